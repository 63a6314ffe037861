import { rm } from 'node:fs/promises';
import { Conflict } from '@causeway/resources';
import { Fenced } from '@causeway/store';
import { until } from '../support/until';
import { FollowedStore, namesOf, putOf, thing } from './followed-store';
import { PostgresPair, type Replication } from './postgres-pair';

const DATABASE = 'causeway';

/** A killed primary, and a standby that is promoted, as two replicas of a control plane see them. */
class Failover {
  readonly replicas: FollowedStore[] = [];

  private constructor(readonly pair: PostgresPair) {}

  static async start(replication: Replication, files: string): Promise<Failover> {
    const failover = new Failover(await PostgresPair.start(replication, files));
    const { pair } = failover;
    await pair.ask(pair.firstUrl('postgres'), `CREATE DATABASE ${DATABASE}`);
    await failover.replica();
    await failover.replica();
    return failover;
  }

  async replica(): Promise<FollowedStore> {
    const one = await FollowedStore.start(this.pair.url(DATABASE));
    this.replicas.push(one);
    return one;
  }

  /** Returns the names in each index, once it holds the primary's state. */
  caughtUp(): Promise<readonly (readonly string[])[]> {
    return Promise.all(this.replicas.map((one) => one.caughtUp()));
  }

  async stop(): Promise<void> {
    await Promise.all(this.replicas.map((one) => one.close()));
    await this.pair.stop();
  }
}

describe('a primary that is killed, and its standby that is promoted (docs/design.md §2.7)', () => {
  let files: string;
  let failover: Failover;
  let pair: PostgresPair;
  let one: FollowedStore;
  let two: FollowedStore;

  async function start(replication: Replication): Promise<void> {
    failover = await Failover.start(replication, files);
    ({ pair } = failover);
    [one, two] = failover.replicas as [FollowedStore, FollowedStore];
  }
  beforeAll(async () => {
    files = await PostgresPair.makeFiles();
  });
  afterAll(() => rm(files, { recursive: true, force: true }));
  afterEach(() => failover.stop());

  it('I9: synchronous, under load: every answered write is there, and the leader goes on in its epoch', async () => {
    await start('synchronous');
    const epoch = (await one.backend.lease.takeOver(0, 'leader', 600_000)) ?? 0;
    const before = await one.backend.store.head();
    const log = { answered: [] as string[], failed: [] as string[] };
    const stop = new AbortController();
    const writing = two.writeUntil(stop.signal, log);
    await until('writes were answered', () => log.answered.length > 50);
    await pair.killFirst();
    await until('a write failed', () => log.failed.length > 0);
    await pair.promoteSecond();
    const answered = log.answered.length;
    await until('writes are answered again', () => log.answered.length > answered + 50);
    stop.abort();
    await writing;

    const held = namesOf((await one.backend.store.snapshot()).resources);
    expect(log.answered.filter((name) => !held.includes(name))).toEqual([]);
    expect(await failover.caughtUp()).toEqual([held, held]);
    expect((await one.backend.store.head()).incarnation).not.toBe(before.incarnation);
    const fence = { epoch, holder: 'leader' };
    const { results } = await one.backend.store.write({ changes: [putOf('led')], onRefusal: 'abort', fence });
    expect(results[0]?.type).toBe('written');
  });

  it('I9: synchronous, silent instead of killed: no connection breaks, and writes and indexes go on at the standby', async () => {
    await start('synchronous');
    const log = { answered: [] as string[], failed: [] as string[] };
    const stop = new AbortController();
    const writing = two.writeUntil(stop.signal, log);
    await until('writes were answered', () => log.answered.length > 50);
    pair.silenceFirst();
    await pair.promoteSecond();
    const answered = log.answered.length;
    await until('writes are answered again', () => log.answered.length > answered + 50);
    stop.abort();
    await writing;

    const held = namesOf((await two.backend.store.snapshot()).resources);
    expect(log.answered.filter((name) => !held.includes(name))).toEqual([]);
    expect(await failover.caughtUp()).toEqual([held, held]);
  });

  it('I8: asynchronous: what was not replicated is gone from every index; its epoch and revisions count no longer', async () => {
    await start('asynchronous');
    await one.write('replicated');
    const sent = `SELECT 1 FROM pg_stat_replication WHERE replay_lsn >= pg_current_wal_lsn()`;
    await until('the standby has it', async () => (await pair.ask(pair.firstUrl(DATABASE), sent)).length > 0);
    await pair.cutReplication();
    const epoch = (await one.backend.lease.takeOver(0, 'leader', 600_000)) ?? 0;
    await one.write('lost');
    expect(await failover.caughtUp()).toEqual([
      ['lost', 'replicated'],
      ['lost', 'replicated'],
    ]);
    const read = await one.backend.store.get(thing('lost'));
    const before = await one.backend.store.head();
    await pair.killFirst();
    await pair.promoteSecond();

    expect(await failover.caughtUp()).toEqual([['replicated'], ['replicated']]);
    expect(failover.replicas.map(({ reloads }) => reloads)).toEqual([2, 2]);
    const after = await two.backend.store.head();
    expect(after.incarnation).not.toBe(before.incarnation);
    expect(after.revision).toBeGreaterThan(before.revision);
    const { store } = one.backend;
    const fenced = { changes: [putOf('lost')], onRefusal: 'abort', fence: { epoch, holder: 'leader' } } as const;
    await expect(store.write(fenced)).rejects.toBeInstanceOf(Fenced);
    const stale = { ...putOf('lost'), expect: read?.revision ?? 0 };
    await expect(store.write({ changes: [stale], onRefusal: 'abort' })).rejects.toBeInstanceOf(Conflict);
    // Another leader may begin an epoch of the same number; the fence distinguishes them by the holder.
    expect(await two.backend.lease.takeOver(epoch - 1, 'other', 600_000)).toBe(epoch);
    await expect(store.write(fenced)).rejects.toBeInstanceOf(Fenced);
    await store.write({ ...fenced, fence: { epoch, holder: 'other' } });
    await oldPrimaryComesBack();
  });

  /** Two servers accept writes now: only the promoted one gets any. */
  async function oldPrimaryComesBack(): Promise<void> {
    await pair.reviveFirst();
    const rows = (): Promise<readonly unknown[]> => pair.ask(pair.firstUrl(DATABASE), 'SELECT * FROM resources');
    const there = await rows();
    await pair.ask(
      pair.secondUrl(DATABASE),
      'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
    );
    const answered = (name: string): Promise<true | string> => one.write(name).then(() => true, String);
    await until('it writes again', async () => (await answered('after')) === true);
    const newcomer = await failover.replica(); // it knows nothing of the promotion
    await newcomer.write('by-a-newcomer');
    expect(await two.caughtUp()).toEqual(['after', 'by-a-newcomer', 'lost', 'replicated']);
    expect(await rows()).toEqual(there);

    await pair.killSecond();
    await until('the old one is refused', async () => String(await answered('x')).includes('is an old primary'));
    expect(await rows()).toEqual(there);
  }
});
