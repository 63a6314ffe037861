import { coreKinds } from '@causeway/kinds';
import { silentLogger, type LogFields } from '@causeway/runtime';
import { FakeClock } from '@causeway/runtime/testing';
import { MemoryDisk } from '@causeway/store/testing';
import { TestPlane } from '../../../../test/support/test-plane';
import { until } from '../../../../test/support/until';
import { globalSecretId, secretText } from '../global-secrets';
import { createZoneProxyTokens } from './zone-proxy-tokens';
import { createZoneTokenService, type ZoneTokenService } from './zone-token-service';

const [HOUR, DAY] = [3_600_000, 24 * 3_600_000];
const [OWN, OTHER] = ['own', 'other'].map((each) => each.repeat(12)) as [string, string];

describe('renewals of zone tokens', () => {
  const disk = (): MemoryDisk => new MemoryDisk();
  let clock: FakeClock;
  let plane: TestPlane;
  let service: ZoneTokenService;
  const logged: (readonly [string, LogFields])[] = [];
  const open: { close(): unknown }[] = [];

  function replica(shared?: MemoryDisk): [TestPlane, ZoneTokenService] {
    const own = new TestPlane({ role: 'global' }, shared ?? disk());
    const logger = {
      ...silentLogger,
      error: (text: string, fields: LogFields = {}) => void logged.push([text, fields]),
    };
    const tokens = createZoneTokenService({ store: own.store, index: own.index, registry: coreKinds, clock, logger });
    open.push(own, tokens);
    return [own, tokens];
  }
  beforeEach(async () => {
    logged.length = 0;
    clock = new FakeClock(Date.parse('2026-03-01T12:00:00Z'));
    [plane, service] = replica();
    await service.tokens.ensureKey();
  });
  afterEach(async () => {
    for (const one of open.splice(0).reverse()) await one.close();
  });

  const renew = (
    token: string,
    secret = OWN,
    at = service,
    storeId = 'store-1',
  ): Promise<{ token: string; id: string }> =>
    at.renewals.renew({ zone: 'east', storeId, token, secret, instance: 'east-0' });
  const show = (token: string): Promise<{ until?: number }> => service.auth.authenticate({ zone: 'east', token });
  const revocations = async (): Promise<string> => {
    const held = await plane.store.get(globalSecretId('zone-token-revocations'));
    return held ? secretText(held) : '';
  };
  const marked = (id: string): Promise<unknown> =>
    until('the end of the former token', async () => (await revocations()).includes(`${id}@`));

  it('make a token of the same line, zone, scope and validity, and let the former one end an hour after its first use', async () => {
    const first = await service.tokens.issue({ zone: 'east', validFor: '30d', issuedBy: 'anna' });
    clock.advance(20 * DAY);
    const second = await renew(first.token);
    const claims = JSON.parse(Buffer.from(second.token.split('.')[1] ?? '', 'base64url').toString()) as object;
    expect(claims).toMatchObject({ Zone: 'east', Scope: ['cp'], Line: first.id, Renewal: 1, jti: second.id });
    expect(await show(second.token)).toEqual({ until: clock.now() + 30 * DAY });
    await marked(first.id);
    await until('the end is followed', async () => (await show(first.token)).until === clock.now() + HOUR);
    clock.advance(HOUR);
    await expect(show(first.token)).rejects.toThrow(
      /^the zone token [-0-9a-f]+ was renewed, and ended at 2026-03-21T13:00/,
    );
    clock.advance(19 * DAY);
    const third = await renew(second.token);
    await show(third.token);
    await marked(second.id);
    expect(await revocations()).not.toContain(third.id);
    expect(await service.tokens.list()).toMatchObject(
      [second.id, third.id].map((id) => ({ id, issuedBy: 'anna', revoked: false })),
    );
  });

  it('are made again for a holder whose answer was lost, and all former ones end', async () => {
    const { token, id } = await service.tokens.issue({ zone: 'east', validFor: '30d' });
    clock.advance(20 * DAY);
    const [lost, held] = [await renew(token), await renew(token)];
    await show(held.token);
    await marked(lost.id);
    await marked(id);
    expect(service.renewals.contested).toBe(0);
  });

  it('of one token by another holder are refused, logged, counted and listed', async () => {
    const { token, id } = await service.tokens.issue({ zone: 'east', validFor: '30d' });
    clock.advance(20 * DAY);
    const second = await renew(token);
    await expect(renew(token, OTHER)).rejects.toThrow(/is renewed by another holder: it may be stolen/);
    await expect(renew(token, OWN, service, 'store-2')).rejects.toThrow(/is renewed by another holder/);
    expect(service.renewals.contested).toBe(2);
    expect(logged[0]).toEqual([
      'a zone token was renewed by two holders: it may be stolen',
      { zone: 'east', id, line: id, instance: 'east-0' },
    ]);
    expect(await service.tokens.list()).toContainEqual(expect.objectContaining({ id, contestedAt: clock.now() }));
    await expect(show(second.token)).resolves.toBeDefined();
  });

  it('at two replicas at once by two holders: at most one gets a token', async () => {
    const shared = disk();
    const [[, one], [, two]] = [replica(shared), replica(shared)];
    await one.tokens.ensureKey();
    const tokens = await Promise.all(
      Array.from({ length: 20 }, async () => (await one.tokens.issue({ zone: 'east', validFor: '30d' })).token),
    );
    const [token = ''] = tokens;
    await until(
      'both have the key',
      async () => await two.auth.authenticate({ zone: 'east', token }).catch(() => false),
    );
    clock.advance(20 * DAY);
    for (const each of tokens) {
      const before = one.renewals.contested + two.renewals.contested;
      const tries = [
        { holder: OWN, at: one },
        { holder: OTHER, at: two },
      ];
      const results = await Promise.allSettled(tries.map(({ holder, at }) => renew(each, holder, at)));
      const [winner, ...others] = tries.filter((_, i) => results[i]?.status === 'fulfilled');
      expect(others).toEqual([]);
      expect(one.renewals.contested + two.renewals.contested).toBeGreaterThan(before);
      // What the other one was refused does not end the line.
      if (winner) await expect(renew(each, winner.holder, winner.at)).resolves.toBeDefined();
    }
  });

  it('shown after its end a token is an alarm, once', async () => {
    const { token, id } = await service.tokens.issue({ zone: 'east', validFor: '30d' });
    clock.advance(20 * DAY);
    await show((await renew(token)).token);
    await marked(id);
    clock.advance(2 * HOUR);
    for (let i = 0; i < 3; i++) await expect(show(token)).rejects.toThrow(/was renewed, and ended/);
    expect(service.renewals.contested).toBe(1);
    expect(logged.map(([text]) => text)).toEqual([
      'a zone token is shown that was renewed and has ended: its renewed one may be stolen',
    ]);
  });

  it.each<[string, number]>([
    ['the first', 0],
    ['a renewed one', 1],
    ['the last', 2],
  ])('end with their line, when %s is revoked, in a zone too', async (_, which) => {
    const first = await service.tokens.issue({ zone: 'east', validFor: '30d', scope: ['cp', 'ingress'] });
    clock.advance(20 * DAY);
    const second = await renew(first.token);
    await show(second.token);
    await marked(first.id);
    clock.advance(20 * DAY);
    const third = await renew(second.token);
    const line = [first, second, third];
    await service.tokens.revoke(line[which]?.id ?? '');
    for (const { token } of [third, second]) await expect(show(token)).rejects.toThrow(/is revoked|expired/);
    await expect(renew(third.token)).rejects.toThrow(/is revoked/);
    // A zone has the list alone, without records of tokens.
    const zone = createZoneProxyTokens({
      cp: { role: 'global' },
      store: plane.store,
      index: plane.index,
      registry: coreKinds,
      clock,
      logger: silentLogger,
    });
    open.push(zone);
    await expect(zone.verify(third.token, 'ingress')).rejects.toThrow(/is revoked/);
  });

  it('keep the revocation of a line until its last token is forgotten', async () => {
    const first = await service.tokens.issue({ zone: 'east', validFor: '30d' });
    clock.advance(29 * DAY);
    await renew(first.token);
    await service.tokens.revoke(first.id);
    clock.advance(9 * DAY);
    await service.tokens.purge();
    expect(await revocations()).toContain(first.id);
    clock.advance(60 * DAY);
    await service.tokens.purge();
    await service.tokens.purge();
    expect(await revocations()).toBe('');
  });

  it.each<[string, object, number, RegExp]>([
    ['--no-renew', { renew: false }, 20 * DAY, /was issued with --no-renew/],
    ['another use', { scope: ['ingress'] }, 20 * DAY, /has not the scope "cp"/],
    ['another zone', { zone: 'west' }, 20 * DAY, /is of zone "west", the caller is "east"/],
    ['half of its life ahead', {}, 10 * DAY, /may be renewed from 2026-03-16T12:00:00.000Z on/],
    ['nothing left', {}, 30 * DAY, /expired at/],
  ])('are refused for a token with %s', async (_, more, later, why) => {
    const { token } = await service.tokens.issue({ zone: 'east', validFor: '30d', ...more });
    clock.advance(later);
    await expect(renew(token)).rejects.toThrow(why);
  });

  it('are refused beyond what one line needs', async () => {
    const { token } = await service.tokens.issue({ zone: 'east', validFor: '30d' });
    clock.advance(20 * DAY);
    for (let i = 0; i < 31; i++) await renew(token);
    await expect(renew(token)).rejects.toThrow(/has 32 valid tokens, the most/);
    await expect(renew(token, 'short')).rejects.toMatchObject({ violations: [{ field: 'secret' }] });
  });
});
