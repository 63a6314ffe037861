import { spawnSync } from 'node:child_process';
import { chmod, chown, mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RelistRequired } from '@causeway/store';
import { Client } from 'pg';
import type { EmbeddedPostgres } from '../../scripts/lib/embedded-postgres.mjs';
import { until } from '../support/until';
import { FollowedStore, thing } from './followed-store';

/** The name of the moment that is restored. */
const MOMENT = 'before_the_mistake';

/** Does what docs/guides/backup.md does with pg_basebackup and an archive, by the same functions of Postgres. */
describe('a store that is restored to a point in time', () => {
  const servers: EmbeddedPostgres[] = [];
  const stores: FollowedStore[] = [];
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'causeway-point-'));
    await chmod(folder, 0o755); // Postgres may run as another user
    await mkdir(join(folder, 'archive'));
    await chmod(join(folder, 'archive'), 0o777);
  });
  afterAll(async () => {
    await Promise.all(stores.map((store) => store.close()));
    await Promise.all(servers.map((server) => server.stop()));
    await rm(folder, { recursive: true, force: true });
  });

  async function serve(name: string, more: Readonly<Record<string, string>>): Promise<EmbeddedPostgres> {
    const { startPostgres } = await import('../../scripts/lib/embedded-postgres.mjs');
    const { freePort } = await import('../../scripts/lib/ports.mjs');
    const server = await startPostgres({ folder: join(folder, name), port: await freePort(), more });
    servers.push(server);
    return server;
  }

  async function connected<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
    const client = new Client({ connectionString: url });
    client.on('error', () => undefined);
    await client.connect();
    try {
      return await work(client);
    } finally {
      await client.end();
    }
  }

  /** A base backup of a server that runs: its files, and the label without which they are no backup. */
  function baseBackup(url: string): Promise<void> {
    return connected(url, async (client) => {
      await client.query(`SELECT pg_backup_start('base', true)`);
      const { status, stderr } = spawnSync('cp', ['-a', join(folder, 'live'), join(folder, 'restored')], {
        encoding: 'utf8',
      });
      // A file that the server removed while it was copied is no failure.
      if (status !== 0 && !/No such file|vanished/.test(stderr)) throw new Error(stderr);
      const { rows } = await client.query<{ labelfile: string }>('SELECT labelfile FROM pg_backup_stop(false)');
      const data = join(folder, 'restored', 'data');
      await rm(join(data, 'postmaster.pid'), { force: true });
      const { uid, gid } = await stat(data);
      const files = { backup_label: rows[0]?.labelfile ?? '', 'recovery.signal': '' };
      for (const [name, text] of Object.entries(files)) {
        await writeFile(join(data, name), text, { mode: 0o600 });
        await chown(join(data, name), uid, gid);
      }
    });
  }

  it('holds what it held then, with its addresses, and begins a new incarnation that no reader mixes up (I1, I2)', async () => {
    const archive = join(folder, 'archive');
    const live = await serve('live', {
      wal_level: 'replica',
      archive_mode: 'on',
      archive_command: `cp %p ${archive}/%f`,
    });
    await connected(live.url('postgres'), (client) => client.query('CREATE DATABASE point'));
    const url = live.url('point');
    const store = await FollowedStore.start(url);
    stores.push(store);
    await store.write('old');
    const vip = { type: 'patch', id: thing('old'), expect: 'any', vip: '241.0.0.7' } as const;
    await store.backend.store.write({ changes: [vip], onRefusal: 'abort' });
    await baseBackup(url);
    await store.write('of the archive');
    const there = await store.backend.store.get(thing('old'));
    await connected(url, (client) => client.query(`SELECT pg_create_restore_point('${MOMENT}')`));

    await store.write('mistake');
    await store.backend.store.write({
      changes: [{ type: 'delete', id: thing('old'), expect: 'any' }],
      onRefusal: 'abort',
    });
    const last = await store.backend.store.head();
    const [segment] = await connected(url, async (client) => {
      const { rows } = await client.query<{ name: string }>('SELECT pg_walfile_name(pg_switch_wal()) AS name');
      return rows;
    });
    await until('the archive has it all', async () => (await readdir(archive)).includes(segment?.name ?? '-'));
    await store.close();
    stores.splice(stores.indexOf(store), 1);
    await live.crash();

    const restored = await serve('restored', {
      archive_mode: 'off',
      restore_command: `cp ${archive}/%f %p`,
      recovery_target_name: MOMENT,
      recovery_target_action: 'promote',
    });
    const again = restored.url('point');
    await until('it takes writes', () =>
      connected(again, async (client) => {
        const { rows } = await client.query<{ standby: boolean }>('SELECT pg_is_in_recovery() AS standby');
        return rows[0]?.standby === false;
      }).catch(() => false),
    );
    const after = await FollowedStore.start(again);
    stores.push(after);
    expect(await after.caughtUp()).toEqual(['of the archive', 'old']);
    const { store: here } = after.backend;
    const head = await here.head();
    expect(head.incarnation).not.toBe(last.incarnation);
    expect(head.revision).toBeGreaterThan(last.revision);
    const old = await here.get(thing('old'));
    expect(old).toMatchObject({ uid: there?.uid, generation: there?.generation, revision: there?.revision });
    const watch = here.watch(last, new AbortController().signal)[Symbol.asyncIterator]();
    await expect(watch.next()).rejects.toThrow(RelistRequired);
    await after.write('taker');
    const taken = { type: 'patch', id: thing('taker'), expect: 'any', vip: '241.0.0.7' } as const;
    expect((await here.write({ changes: [taken], onRefusal: 'skip' })).results).toMatchObject([
      { refusal: 'vip-taken' },
    ]);
  });
});
