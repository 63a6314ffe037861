import { FakeClock } from '@causeway/runtime/testing';
import { anonymous, localAdmin, type Caller } from '../authorization/caller';
import { CallerRates, RateLimited } from './caller-rates';

const anna: Caller = { user: 'anna', groups: [], by: 'user-token' };

/** Returns how many of `tries` requests are accepted. */
function taken(tries: number, take: () => void): number {
  let count = 0;
  for (let i = 0; i < tries; i++) {
    try {
      take();
      count++;
    } catch (error) {
      if (!(error instanceof RateLimited)) throw error;
    }
  }
  return count;
}

describe('CallerRates', () => {
  const limited = (): { clock: FakeClock; rates: CallerRates } => {
    const clock = new FakeClock();
    return { clock, rates: new CallerRates({ user: 10, address: 2 }, clock) };
  };

  it('lets a user send twice the rate at once, and the rate from then on', () => {
    const { clock, rates } = limited();
    expect(taken(50, () => rates.take(anna, '10.0.0.1'))).toBe(20);
    clock.advance(1_000);
    expect(taken(50, () => rates.take(anna, '10.0.0.2'))).toBe(10);
  });

  it('counts users apart, and a user of one name of another issuer', () => {
    const { rates } = limited();
    taken(50, () => rates.take(anna, '10.0.0.1'));
    expect(taken(50, () => rates.take({ ...anna, user: 'bob' }, '10.0.0.1'))).toBe(20);
    expect(taken(50, () => rates.take({ ...anna, by: 'oidc' }, '10.0.0.1'))).toBe(20);
  });

  it('counts those who send no credentials, and refused ones, by their address', () => {
    const { rates } = limited();
    expect(taken(3, () => rates.take(anonymous, '10.0.0.1'))).toBe(3);
    expect(taken(3, () => rates.takeUnrecognised('10.0.0.1'))).toBe(1);
    expect(taken(50, () => rates.take(anonymous, '10.0.0.2'))).toBe(4);
  });

  it('says when to come back', () => {
    const { rates } = limited();
    taken(20, () => rates.take(anna, '10.0.0.1'));
    expect(() => rates.take(anna, '10.0.0.1')).toThrow(expect.objectContaining({ retryAfter: 100 }));
  });

  it('has no limit for the local socket, nor where it is 0', () => {
    const { clock, rates } = limited();
    expect(taken(5_000, () => rates.take(localAdmin, ''))).toBe(5_000);
    const none = new CallerRates({ user: 0, address: 0 }, clock);
    expect(taken(5_000, () => none.take(anna, '10.0.0.1'))).toBe(5_000);
    expect(taken(5_000, () => none.takeUnrecognised('10.0.0.1'))).toBe(5_000);
  });
});
