import { randomBytes } from 'node:crypto';
import { silentLogger } from '@causeway/runtime';
import { FakeClock } from '@causeway/runtime/testing';
import type { Fence } from '@causeway/store';
import type { PostgresBackend } from '@causeway/store-postgres';
import { createPostgresBackend } from '@causeway/store-postgres/testing';
import { createTestDatabase, type TestDatabase } from '../../../test/support/postgres';
import { AuthorityLifecycle, type TrustGaps } from './authority-lifecycle';
import { NO_REQUEST, RotationRequests, type RotationCommand } from './rotation-requests';
import { SealingKeys } from './sealing-keys';
import { AUTHORITY_ENTRY, ZoneAuthority, type AuthorityStateOfZone } from './zone-authority';

const MARGIN = 30_000;
const VALIDITY = 60_000;
const SLACK = 5_000;
const SECRETS = `k:${randomBytes(32).toString('base64')}`;
const ROTATE: RotationCommand = { type: 'rotate', wait: 3_600_000, force: false };
const NO_AUTHORITY = { ...AUTHORITY_ENTRY, value: null };
const NOBODY: TrustGaps = { missing: [], unheard: [] };

/** A replica that leads for a term. */
interface Leader {
  readonly lifecycle: AuthorityLifecycle;
  readonly fence: Fence;
}

describe('the life of an authority under the leaders of a zone', () => {
  let database: TestDatabase;
  let backend: PostgresBackend;
  let clock: FakeClock;
  let gaps: TrustGaps;
  let errors: unknown[];
  beforeAll(async () => {
    database = await createTestDatabase();
    backend = await createPostgresBackend({ url: database.url, poolSize: 2 });
  });
  beforeEach(async () => {
    await backend.store.write({ changes: [], onRefusal: 'abort', metadata: [NO_REQUEST, NO_AUTHORITY] });
    clock = new FakeClock(Date.parse('2026-11-23T00:00:00Z'));
    gaps = NOBODY;
    errors = [];
  });
  afterAll(async () => {
    await backend.close();
    await database.drop();
  });

  const authority = (): ZoneAuthority => {
    const keys = SealingKeys.parse(SECRETS);
    if (!keys.ok) throw new Error(keys.reason);
    const { store } = backend;
    return new ZoneAuthority({
      store,
      keys: keys.keys,
      zone: 'east',
      clock,
      logger: silentLogger,
      validity: VALIDITY,
      slack: SLACK,
    });
  };
  /** A new leader, whatever the one before does. */
  const lead = async (holder: string): Promise<Leader> => {
    const standing = await backend.lease.readEpoch();
    await backend.lease.release(standing.epoch, standing.holder);
    const epoch = (await backend.lease.takeOver(standing.epoch, holder, 60_000)) ?? 0;
    const fence = { epoch, holder };
    const logger = { ...silentLogger, error: (_: string, fields?: object) => void errors.push(fields) };
    const lifecycle = new AuthorityLifecycle({
      authority: authority(),
      store: backend.store,
      fence,
      clock,
      logger,
      margin: MARGIN,
      evidence: { gaps: () => Promise.resolve(gaps) },
    });
    return { lifecycle, fence };
  };
  const order = (wanted: RotationCommand): Promise<void> =>
    new RotationRequests(backend.store, clock).submit(wanted, 'somebody');
  const state = async (): Promise<AuthorityStateOfZone> => {
    const found = await authority().state();
    if (!found) throw new Error('no authority');
    return found;
  };
  const stepAfter = async ({ lifecycle }: Leader): Promise<unknown> => {
    await lifecycle.turn();
    return (await state()).step;
  };

  it('a rotation waits for who is missing, by name, and ends when the last certificate of the old one has', async () => {
    const leader = await lead('a');
    await leader.lifecycle.turn();
    const [old] = (await state()).authorities;
    await order(ROTATE);
    gaps = { missing: ['proxy default.web-1', 'zone west, mesh default: not accepted by default.client'], unheard: [] };
    expect(await stepAfter(leader)).toMatchObject({ type: 'trusting' });
    expect(leader.lifecycle.certificates()).toHaveLength(2);
    clock.advance(3_000_000);
    expect(await stepAfter(leader)).toMatchObject({ type: 'trusting' });
    gaps = NOBODY;
    const used = clock.now();
    expect(await stepAfter(leader)).toMatchObject({ type: 'retiring', old: old?.id, usedBy: 'acks', missing: [] });
    clock.advance(VALIDITY + SLACK - 1);
    expect(await stepAfter(leader)).toMatchObject({ type: 'retiring', dropAt: used + VALIDITY + SLACK });
    clock.advance(1);
    expect(await stepAfter(leader)).toEqual({ type: 'steady' });
    expect((await state()).authorities.map(({ id }) => id)).not.toContain(old?.id);
    expect(errors).toEqual([]);
  });

  it('zones that say nothing of their proxies have some time, from when nobody else is missing', async () => {
    const leader = await lead('a');
    gaps = { missing: ['proxy default.web-1'], unheard: ['kuma-1'] };
    await order(ROTATE);
    await leader.lifecycle.turn();
    clock.advance(2 * MARGIN);
    expect(await stepAfter(leader)).toMatchObject({ type: 'trusting' });
    gaps = { missing: [], unheard: ['kuma-1'] };
    expect(await stepAfter(leader)).toMatchObject({ type: 'trusting' });
    clock.advance(MARGIN - 1);
    expect(await stepAfter(leader)).toMatchObject({ type: 'trusting' });
    clock.advance(1);
    expect(await stepAfter(leader)).toMatchObject({ type: 'retiring', usedBy: 'acks' });
  });

  it('at the deadline, or by force, the new one is used, and who was missing is kept by name', async () => {
    const leader = await lead('a');
    gaps = { missing: ['zone west (lost), mesh default: has not received it'], unheard: ['kuma-1'] };
    const missing = [...gaps.missing, 'zone kuma-1: says nothing of its proxies; it has some time to learn of it'];
    await order(ROTATE);
    await leader.lifecycle.turn();
    clock.advance(3_600_000);
    expect(await stepAfter(leader)).toMatchObject({ type: 'retiring', usedBy: 'deadline', missing });
    clock.advance(VALIDITY + SLACK);
    expect(await stepAfter(leader)).toEqual({ type: 'steady' });
    await order({ ...ROTATE, force: true });
    await leader.lifecycle.turn();
    expect(await stepAfter(leader)).toMatchObject({ type: 'retiring', usedBy: 'force', missing });
  });

  it('given up, the new one is dropped; what was used cannot be given up', async () => {
    const leader = await lead('a');
    gaps = { missing: ['proxy default.web-1'], unheard: [] };
    await order(ROTATE);
    await leader.lifecycle.turn();
    await order({ type: 'abandon' });
    expect(await stepAfter(leader)).toEqual({ type: 'steady' });
    expect((await state()).authorities).toHaveLength(1);
    await order({ ...ROTATE, force: true });
    await leader.lifecycle.turn();
    await leader.lifecycle.turn();
    await order({ type: 'abandon' });
    expect(await stepAfter(leader)).toMatchObject({ type: 'retiring' });
    expect(errors).toEqual([]);
  });

  it('another leader at every step goes on where the one before was; the one whose term is over changes nothing', async () => {
    const first = await lead('a');
    await first.lifecycle.turn();
    await order(ROTATE);
    gaps = { missing: ['proxy default.web-1'], unheard: [] };
    await first.lifecycle.turn();
    const begun = await state();
    const second = await lead('b');
    gaps = NOBODY;
    expect(await stepAfter(first)).toEqual(begun.step);
    expect(errors).toHaveLength(1);
    gaps = { missing: ['proxy default.web-1'], unheard: [] };
    expect(await stepAfter(second)).toEqual(begun.step);
    expect(await state()).toEqual(begun);
    gaps = NOBODY;
    expect(await stepAfter(await lead('c'))).toMatchObject({ type: 'retiring', usedBy: 'acks' });
    await order(ROTATE);
    clock.advance(VALIDITY + SLACK);
    const last = await lead('d');
    expect(await stepAfter(last)).toEqual({ type: 'steady' });
    // The order came while the former rotation was not over: it is refused, not kept for later.
    expect(await stepAfter(last)).toEqual({ type: 'steady' });
    expect((await state()).authorities.map(({ id }) => id)).toEqual([begun.authorities[1]?.id]);
  });
});
