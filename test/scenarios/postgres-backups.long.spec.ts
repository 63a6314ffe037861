import { readdir } from 'node:fs/promises';
import type { EmbeddedPostgres } from '../../scripts/lib/embedded-postgres.mjs';
import { runAsAdmin } from '../ctl/run-causeway';
import { describeWithPostgresPrograms, InstalledPostgres } from '../support/installed-postgres';
import { rowsOf } from '../support/postgres';
import { dataplane, ProcessMesh } from '../support/process-mesh';
import type { ProcessPlane } from '../support/process-plane';
import { until } from '../support/until';

interface Held {
  readonly generation?: number;
  readonly labels?: Record<string, string>;
  readonly status?: { readonly vip?: { readonly ip?: string }; readonly conditions?: readonly { type: string }[] };
  readonly uid?: string;
}

const SERVICE = { ports: [{ port: 80 }], selector: { dataplaneTags: { app: 'orders' } } };

/** Does what docs/guides/backup.md does with the programs of Postgres, while the global and zone west live on. */
describeWithPostgresPrograms('the store of a zone, set back by the programs of Postgres', () => {
  let postgres: InstalledPostgres;
  let live: EmbeddedPostgres;
  let mesh: ProcessMesh;

  beforeAll(async () => {
    postgres = await InstalledPostgres.create();
    live = await postgres.serve('live', { wal_level: 'replica', archive_mode: 'on', archive_command: archiving() });
    await postgres.ownFolder('archive');
    await rowsOf(live.url('postgres'), 'CREATE DATABASE east');
    mesh = await ProcessMesh.start(['west']);
    await mesh.startZone('east', { DATABASE_URL: live.url('east') });
    await register('redis');
    await register('cache');
    await putOrders();
  });
  afterAll(async () => {
    await mesh?.stop();
    await postgres?.stop();
  });

  const east = (): ProcessPlane => mesh.zone('east');
  const west = (): ProcessPlane => mesh.zone('west');
  const archive = (): string => `${postgres.folder}/archive`;
  const archiving = (): string => `cp %p ${archive()}/%f`;

  const service = (plane: ProcessPlane, name: string): Promise<Held | undefined> =>
    plane.get(`/meshes/default/meshservices/${name}?zone=east`);
  const address = async (name: string): Promise<string | undefined> => (await service(west(), name))?.status?.vip?.ip;
  const addresses = (...names: readonly string[]): Promise<readonly (string | undefined)[]> =>
    Promise.all(names.map(address));

  /** Registers an instance of a service in east; resolves with the address that west gives to the service. */
  async function register(name: string): Promise<string> {
    await east().put(`/meshes/default/dataplanes/${name}-1`, dataplane(`${name}-1`, name));
    return until(`west has ${name}`, () => address(name));
  }

  /** A service that a user wrote. */
  async function putOrders(): Promise<string> {
    const body = { type: 'MeshService', mesh: 'default', name: 'orders', spec: SERVICE };
    await east().put('/meshes/default/meshservices/orders', body);
    return until('west has orders', () => address('orders'));
  }

  async function deleteOrders(): Promise<void> {
    expect(await east().delete('/meshes/default/meshservices/orders')).toBe(200);
    await until('west has lost orders', async () => (await service(west(), 'orders')) === undefined);
  }

  /** Whether the global holds a service of east that the restored east lacks; undefined if it does not know the service. */
  async function isHeld(name: string): Promise<boolean | undefined> {
    const found = await service(mesh.global, name);
    return found && (found.status?.conditions ?? []).some(({ type }) => type === 'Held');
  }
  const held = (name: string): Promise<unknown> => until(`${name} is held`, () => isHeld(name));

  const incarnation = async (url: string): Promise<string | undefined> =>
    (await rowsOf<{ incarnation: string }>(url, 'SELECT incarnation FROM store_head'))[0]?.incarnation;
  const who = async (token: string): Promise<number> =>
    (await fetch(`${east().restUrl}/who-am-i`, { headers: { authorization: `Bearer ${token}` } })).status;

  async function confirm(): Promise<void> {
    expect(await runAsAdmin(mesh.global.restUrl, ['zones', 'confirm', 'east'])).toMatchObject({
      code: 0,
      out: expect.stringContaining('the new incarnation of zone east'),
    });
  }

  it('pg_dump and pg_restore: all is as it was; what came after it is held until it is confirmed (I1, I2, I5)', async () => {
    const before = await service(east(), 'redis');
    const kept = await addresses('redis', 'cache', 'orders');
    const token = await east().text('/tokens/user', { name: 'anna', groups: [], validFor: '1h' });
    await postgres.run('pg_dump', '-Fc', '-f', `${archive()}/east.dump`, live.url('east'));
    const [again, late] = [await register('again'), await register('late')];
    await deleteOrders();
    await runAsAdmin(east().restUrl, ['tokens', 'revoke', token]);
    expect(await who(token)).toBe(401);
    await east().stop();

    await rowsOf(live.url('postgres'), 'CREATE DATABASE east_restored');
    const url = live.url('east_restored');
    await postgres.run('pg_restore', '--exit-on-error', '--no-owner', '-d', url, `${archive()}/east.dump`);
    const old = await incarnation(url);
    await mesh.startZone('east', { DATABASE_URL: url });
    expect(await service(east(), 'redis')).toMatchObject({
      uid: before?.uid,
      generation: before?.generation,
      labels: before?.labels,
      status: { vip: before?.status?.vip },
    });
    expect(await incarnation(url)).not.toBe(old);
    await Promise.all([held('again'), held('late')]);
    await until('west has orders again', () => address('orders'));
    // Services deleted after the dump are there again, with their addresses, and those made after it are not lost.
    expect(await addresses('redis', 'cache', 'orders', 'again', 'late')).toEqual([...kept, again, late]);
    await register('again');
    await until('the global holds it no longer', async () => (await isHeld('again')) === false);
    expect(await address('again')).toBe(again);
    expect(await who(token)).toBe(200);
    expect(JSON.stringify(await east().get('/_audit'))).toContain('"name":"orders"');

    await confirm();
    await until('west has lost what east lacks', async () => (await service(west(), 'late')) === undefined);
    expect(await addresses('redis', 'cache', 'orders', 'again')).toEqual([...kept, again]);
  });

  it('a base backup and the archive, to a moment before a mistake: what the others were told after it is held (I1, I2, I5)', async () => {
    const before = live.url('east_restored');
    const data = postgres.files('at-a-moment');
    await postgres.ownFolder('at-a-moment');
    await postgres.run('pg_basebackup', '-d', live.url('postgres'), '-D', data, '--checkpoint=fast');
    const between = await register('between');
    const kept = await addresses('redis', 'cache', 'orders', 'again');
    const own = await service(east(), 'redis');
    const [{ moment } = { moment: '' }] = await rowsOf<{ moment: string }>(before, 'SELECT now()::text AS moment');
    await deleteOrders();
    const after = await register('after');
    const last = await incarnation(before);
    await east().stop();
    const [{ segment } = { segment: '' }] = await rowsOf<{ segment: string }>(
      before,
      'SELECT pg_walfile_name(pg_switch_wal()) AS segment',
    );
    await until('the archive has it all', async () => (await readdir(archive())).includes(segment));
    await live.crash();

    await postgres.writeFile('at-a-moment', 'recovery.signal', '');
    const restored = await postgres.serve('at-a-moment', {
      restore_command: `cp ${archive()}/%f %p`,
      recovery_target_time: moment,
      recovery_target_action: 'promote',
    });
    const url = restored.url('east_restored');
    const recovering = async (): Promise<boolean | undefined> =>
      (await rowsOf<{ on: boolean }>(url, 'SELECT pg_is_in_recovery() AS on').catch(() => []))[0]?.on;
    await until('it takes writes', async () => (await recovering()) === false);
    live = restored;
    await mesh.startZone('east', { DATABASE_URL: url });
    expect(await incarnation(url)).not.toBe(last);
    expect(await service(east(), 'redis')).toMatchObject({ uid: own?.uid, status: { vip: own?.status?.vip } });
    await held('after');
    await until('west has orders again', () => address('orders'));
    expect(await addresses('redis', 'cache', 'orders', 'again')).toEqual(kept);
    expect(await addresses('between', 'after')).toEqual([between, after]);
    await confirm();
    await until('west has lost what east lacks', async () => (await service(west(), 'after')) === undefined);
    expect(await addresses('redis', 'cache', 'orders', 'again', 'between')).toEqual([...kept, between]);
  });

  it('pg_restore over the database that was in use: it is noticed, and holds what was made since (I5, I7)', async () => {
    const url = live.url('east_restored');
    const dump = `${archive()}/again.dump`;
    await postgres.run('pg_dump', '-Fc', '-f', dump, url);
    const [kept, since] = [await address('redis'), await register('since')];
    const last = await incarnation(url);
    await east().stop();
    await postgres.run('pg_restore', '--exit-on-error', '--clean', '--if-exists', '--no-owner', '-d', url, dump);
    await mesh.startZone('east', { DATABASE_URL: url });
    await held('since');
    expect(await addresses('redis', 'since')).toEqual([kept, since]);
    expect(await incarnation(url)).not.toBe(last);
    await confirm();
    await until('west has lost what east lacks', async () => (await service(west(), 'since')) === undefined);
    expect(await address('redis')).toBe(kept);
  });
});
