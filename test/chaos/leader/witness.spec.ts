import { systemClock, type LeaderLease, type LeaderTerm } from '@causeway/runtime';
import { Client } from 'pg';
import { createMigratedDatabase } from '../../support/migrated-database';
import type { TestDatabase } from '../../support/postgres';
import { describeWithRedis } from '../../support/redis';
import { until } from '../../support/until';
import { RedisServer } from './redis-server';
import { Replica, untilOver, type ReplicaOptions } from './replica';

/** Longer than any pause of a busy machine, or a leader loses its term for good reason. */
const LEASE = 2_500;
const KEY = 'leader';
const FOREIGN = 'of somebody else';
/** The call of programs that were made before there was a witness in the row of the epoch. */
const OLDER_TAKE_OVER = 'SELECT causeway_take_over($1, $2, $3)::int AS epoch';

describeWithRedis('a key in Redis that no replica can take (docs/design.md §3)', () => {
  let database: TestDatabase;
  let redis: RedisServer;
  let admin: Client;
  const replicas: Replica[] = [];
  /** Replicas whose term stood at the moment when another began; none may. */
  const together: string[] = [];

  beforeEach(async () => {
    [database, redis] = await Promise.all([createMigratedDatabase(), RedisServer.start()]);
    admin = new Client({ connectionString: database.url });
    await admin.connect();
  });
  afterEach(async () => {
    await Promise.all(replicas.splice(0).map((one) => one.close()));
    await admin.end();
    await redis.kill();
    await database.drop();
    expect(together.splice(0)).toEqual([]);
  });

  async function replica(more: Partial<ReplicaOptions> = {}): Promise<Replica> {
    const one = await Replica.start({
      database: database.url,
      redis: redis.url,
      leaseMs: LEASE,
      work: (term, self) => {
        const others = replicas.filter((other) => other !== self && stands(other.terms.at(-1)));
        together.push(...others.map(({ holder }) => `${holder} beside ${term.holder}`));
        return untilOver(term);
      },
      ...more,
    });
    replicas.push(one);
    return one;
  }

  const stands = (term: LeaderTerm | undefined): boolean => term !== undefined && !term.signal.aborted;
  const leader = (): Promise<Replica> => until('one replica leads', () => replicas.find((one) => one.leading));
  const leases = (n: number): Promise<void> => systemClock.sleep(n * LEASE);
  const occupy = (): Promise<unknown> => redis.ask(['SET', KEY, FOREIGN]);
  const held = (): Promise<unknown> => redis.ask(['GET', KEY]);
  const witness = async (): Promise<unknown> =>
    (await admin.query<{ witness: string }>('SELECT witness FROM leader')).rows[0]?.witness;
  const seenBy = (): unknown[] => replicas.map((one) => one.election.status().witness);

  it('keeps nobody from leading: after three leases Postgres decides, until the leader has the key again', async () => {
    const [a, b] = await Promise.all([replica(), replica()]);
    const first = await leader();
    await occupy();
    await until('its term is over', () => !stands(first.terms[0]));
    await leases(2);
    expect([await witness(), replicas.map((one) => one.leading)]).toEqual(['lock', [false, false]]);
    const second = await leader();
    expect([await witness(), await held(), second.terms.at(-1)?.epoch]).toEqual(['lease', FOREIGN, 2]);
    await until('both know it', () => seenBy().every((one) => one === 'lease'));

    await second.stop();
    const third = second === a ? b : a;
    await until('the other leads, without a lease in between', () => third.leading);
    expect([await witness(), third.terms.at(-1)?.epoch]).toEqual(['lease', 3]);

    await redis.ask(['DEL', KEY]);
    await until('the lock counts again', async () => (await witness()) === 'lock');
    expect(await held()).toBe(third.holder);
    expect([third.leading, third.terms.at(-1)?.epoch]).toEqual([true, 3]);
    await until('it knows that', () => third.election.status().witness === 'lock');
  });

  it('lets no replica lead that does not know of it while Postgres decides, and lets it again afterwards', async () => {
    await occupy();
    const older = (lease: LeaderLease): LeaderLease => ({
      readEpoch: async () => ({ ...(await lease.readEpoch()), witness: 'lock' }),
      takeOver: async (epoch, holder, leaseMs) => {
        const { rows } = await admin.query<{ epoch: number | null }>(OLDER_TAKE_OVER, [epoch, holder, leaseMs]);
        return rows[0]?.epoch ?? undefined;
      },
      renew: (...of) => lease.renew(...of),
      release: (...of) => lease.release(...of),
      returnToLock: () => Promise.resolve(false),
      onRelease: (listener) => lease.onRelease(listener),
    });
    const known = await replica();
    await until('who knows leads', () => known.leading);
    const old = await replica({ wrapLease: older });
    await known.stop();
    await redis.ask(['DEL', KEY]); // the older one gets the lock now, and must not lead by it
    await leases(1.5);
    expect([old.leading, old.terms.length, await witness()]).toEqual([false, 0, 'lease']);
    const next = await replica();
    await until('one that knows leads', () => next.leading);
    await until('the lock counts again', async () => (await witness()) === 'lock');
    await next.stop();
    await until('the older one leads', () => old.leading);
    expect(await witness()).toBe('lock');
  });
});
