import { randomBytes } from 'node:crypto';
import { SealingKeys } from '@causeway/identity';
import { silentLogger, type LeaderTerm, type LogFields } from '@causeway/runtime';
import { FakeClock } from '@causeway/runtime/testing';
import { MemoryLease, MemoryStore } from '@causeway/store/testing';
import { unsignedToken } from '../../../../test/support/zone-token';
import { KeptZoneToken } from './kept-zone-token';
import { ZoneToken } from './zone-token';
import { ZoneTokenRenewal } from './zone-token-renewal';

const DAY = 86_400_000;
const START = Date.parse('2026-03-01T12:00:00Z');

const sealingKeys = (text: string): SealingKeys => {
  const parsed = SealingKeys.parse(text);
  if (!parsed.ok) throw new Error(parsed.reason);
  return parsed.keys;
};
const [K1, K2] = ['k1', 'k2'].map((id) => `${id}:${randomBytes(32).toString('base64')}`) as [string, string];
const makeToken = (jti: string, issuedAt: number, more = {}): string =>
  unsignedToken({ Zone: 'east', jti, iat: issuedAt / 1_000, exp: (issuedAt + 30 * DAY) / 1_000, ...more });

/** Takes the lead of a zone from whoever has it. */
async function startTerm({ disk }: MemoryStore, holder = 'leader'): Promise<LeaderTerm> {
  const lease = new MemoryLease(disk);
  const before = await lease.readEpoch();
  await lease.release(before.epoch, before.holder);
  const epoch = (await lease.takeOver(before.epoch, holder, 60_000)) ?? -1;
  return { epoch, holder, signal: new AbortController().signal };
}

describe('the leader of a zone', () => {
  let clock: FakeClock;
  let store: MemoryStore;
  let term: LeaderTerm;
  const logged: (readonly [string, LogFields])[] = [];
  const log = (message: string, fields: LogFields = {}): void => void logged.push([message, fields]);
  const logger = { ...silentLogger, info: log, warn: log, error: log };
  /** The answers of the global, and the secrets that it was shown. */
  let answer: () => Promise<string | undefined>;
  const secrets: string[] = [];
  const status = { connected: true, peer: 'causeway' as 'causeway' | 'kuma', complete: [], kinds: [] };
  let areReady: boolean | undefined;

  beforeEach(async () => {
    logged.length = 0;
    secrets.length = 0;
    clock = new FakeClock(START);
    store = new MemoryStore();
    term = await startTerm(store);
    status.connected = true;
    status.peer = 'causeway';
    areReady = true;
    answer = () => Promise.resolve(makeToken('second', clock.now()));
  });

  const keptBy = (keys = K1): KeptZoneToken =>
    new KeptZoneToken({ store, keys: sealingKeys(keys), zone: 'east', logger });
  const shown = (more = {}): ZoneToken =>
    new ZoneToken(
      {
        CAUSEWAY_ZONE_NAME: 'east',
        CAUSEWAY_ZONE_TOKEN: makeToken('first', START, more),
        CAUSEWAY_ZONE_TOKEN_FILE: undefined,
      },
      logger,
    );
  const leads = (token: ZoneToken, kept = keptBy()): ZoneTokenRenewal => {
    const renewToken = (secret: string): Promise<string | undefined> => (secrets.push(secret), answer());
    const sync = { status: () => status, renewToken };
    return new ZoneTokenRenewal({
      token,
      kept,
      sync,
      term,
      areReplicasReady: () => areReady,
      clock,
      logger,
      random: () => 0.5,
    });
  };

  it('renews its token after two thirds of its life, once, and keeps the new one sealed for all replicas', async () => {
    const token = shown();
    const renewal = leads(token);
    clock.advance(20 * DAY);
    await renewal.turn();
    expect(secrets).toEqual([]);
    clock.advance(DAY);
    await renewal.turn();
    await renewal.turn();
    expect([secrets.length, token.life?.id]).toEqual([1, 'second']);
    const entries = JSON.stringify(await store.listMetadata('zone-token'));
    expect(entries).not.toContain(token.current() ?? '');
    const other = shown();
    other.useKept(keptBy());
    await other.refresh();
    expect(other.life?.id).toBe('second');
    // The next one counts from when this one was received, whatever the clock of the global says.
    clock.advance(21 * DAY);
    answer = () => Promise.resolve(makeToken('third', START));
    await leads(other).turn();
    expect([secrets.length, secrets[1]]).toEqual([2, secrets[0]]);
    expect((await keptBy().read())?.token).toBe(makeToken('third', START));
  });

  it('renews again by the same secret where it died before the new token was kept', async () => {
    clock.advance(21 * DAY);
    answer = () => Promise.reject(new Error('the answer was lost'));
    await leads(shown()).turn();
    answer = () => Promise.resolve(makeToken('second', clock.now()));
    const token = shown();
    await leads(token).turn();
    expect([secrets[1], token.life?.id]).toEqual([secrets[0], 'second']);
  });

  it('of a term that is over keeps nothing, and shows the former token', async () => {
    const token = shown();
    clock.advance(21 * DAY);
    await keptBy().secret(term);
    await startTerm(store, 'another');
    await leads(token).turn();
    expect([token.life?.id, await keptBy().read()]).toEqual(['first', undefined]);
  });

  it.each<[string, () => void, object, string]>([
    ['issued with --no-renew', () => undefined, { NoRenewal: true }, 'it was issued with --no-renew'],
    ['under Kuma', () => (status.peer = 'kuma'), {}, 'a global of Kuma renews no tokens'],
    [
      'under an older global',
      () => (answer = () => Promise.resolve(undefined)),
      {},
      'the global is of an older version, which renews no tokens',
    ],
    [
      'beside an older replica',
      () => (areReady = false),
      {},
      'a replica of an older version would not read the renewed one',
    ],
    ['that is refused', () => (answer = () => Promise.reject(new Error('stolen'))), {}, 'stolen'],
    [
      "that becomes another zone's",
      () => (answer = () => Promise.resolve(unsignedToken({ Zone: 'west' }))),
      {},
      'the global sent no token of this zone: must be a token of zone "east"; got one of zone "west"',
    ],
  ])('does not renew a token %s, and says so once', async (_, arrange, more, reason) => {
    arrange();
    const token = shown(more);
    const renewal = leads(token);
    clock.advance(21 * DAY);
    await renewal.turn();
    await renewal.turn();
    expect([token.notRenewed, token.life?.id]).toEqual([reason, 'first']);
    expect(logged).toEqual([['the zone token is not renewed', { id: 'first', reason }]]);
    expect(secrets.length).toBeLessThanOrEqual(1);
    clock.advance(DAY / 2);
    await renewal.turn();
    expect(logged).toHaveLength(1);
  });

  it('waits for a session', async () => {
    status.connected = false;
    clock.advance(21 * DAY);
    await leads(shown()).turn();
    expect([secrets, logged]).toEqual([[], []]);
  });

  it('seals what is kept with the first key, and leaves what no key opens', async () => {
    await keptBy().keep(term, { token: makeToken('second', START), receivedAt: START });
    await leads(shown(), keptBy(`${K2},${K1}`)).turn();
    expect(await keptBy(K2).read()).toMatchObject({ receivedAt: START });
    expect(await keptBy(K1).read()).toBeUndefined();
    await expect(keptBy(K1).secret(term)).rejects.toThrow(/cannot be opened/);
    expect(logged.map(([message]) => message)).toContain(
      'the kept zone token cannot be opened: that of the settings is shown',
    );
  });
});
