import { generateKeyPairSync } from 'node:crypto';
import { FakeClock } from '@causeway/runtime/testing';
import { PresentedTokens } from './presented-tokens';
import { signToken } from './signed-token';

const DAY = 24 * 3_600_000;
const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });

describe('which tokens in use expire soon', () => {
  const clock = new FakeClock(1_800_000_000_000);
  let presented: PresentedTokens;
  beforeEach(() => (presented = new PresentedTokens(clock)));
  const token = (id: string, lasts: number): Promise<string> =>
    signToken({}, { id, expiresAt: clock.now() + lasts }, { serial: 1, privateKey }, clock.now());

  it('are those of which a tenth of their time is left, and of long ones 7 days', async () => {
    const [month, year] = [await token('month', 30 * DAY), await token('year', 365 * DAY)];
    const at = (days: number, ...tokens: readonly string[]): number => {
      clock.advance(days * DAY);
      for (const one of tokens) presented.record(one);
      return presented.expiring();
    };
    expect(at(26.9, month, year)).toBe(0);
    expect(at(0.2, month, year)).toBe(1);
    expect(at(3, year)).toBe(0); // the month is over
    expect(at(365 - 30.1 - 7.1, year)).toBe(0);
    expect(at(0.2, year)).toBe(1);
  });

  it('are counted once, and no longer once a day has passed since they were presented', async () => {
    const month = await token('month', 30 * DAY);
    clock.advance(28 * DAY);
    presented.record(month);
    presented.record(month);
    expect(presented.expiring()).toBe(1);
    clock.advance(DAY);
    expect(presented.expiring()).toBe(0);
  });

  it('are none that were made for less than a week', async () => {
    const [day, week] = [await token('day', DAY), await token('week', 7 * DAY)];
    clock.advance(DAY - 1_000);
    presented.record(day);
    expect(presented.expiring()).toBe(0);
    clock.advance(6 * DAY);
    presented.record(week);
    expect(presented.expiring()).toBe(1);
  });

  it('are 10,000 at most, those that were presented last', async () => {
    const first = await token('first', 30 * DAY);
    clock.advance(28 * DAY);
    presented.record(first);
    expect(presented.expiring()).toBe(1);
    const [head, , sign] = first.split('.');
    const [iat, exp] = [clock.now() / 1_000 - 10, clock.now() / 1_000 + 30 * 86_400];
    for (let n = 0; n < 10_000; n++) {
      const payload = Buffer.from(JSON.stringify({ jti: `t-${n}`, iat, exp })).toString('base64url');
      presented.record([head, payload, sign].join('.'));
    }
    expect(presented.expiring()).toBe(0);
  });
});
