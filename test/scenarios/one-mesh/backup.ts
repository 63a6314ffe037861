import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { ControlPlane } from '@causeway/resources';
import { importBackup as importBackupHere } from '../../../apps/control-plane/src/program/import-backup';
import { runAsAdmin } from '../../ctl/run-causeway';
import { dataplane, type ProcessMesh } from '../../support/process-mesh';
import type { ProcessPlane } from '../../support/process-plane';
import { until } from '../../support/until';
import { sharedMesh } from './shared-mesh';
import { adminFetch } from '../../support/admin-credential';

const ROOT = resolve(__dirname, '..', '..', '..');

const EAST = { role: 'zone', zone: 'east', federated: true } as const;

interface Held {
  readonly generation?: number;
  readonly labels?: Record<string, string>;
  readonly status?: { readonly vip?: { readonly ip?: string } };
  readonly uid?: string;
}

describe('a backup of a zone and of the global, restored into new databases', () => {
  const folder = mkdtempSync(join(tmpdir(), 'causeway-backup-'));
  let mesh: ProcessMesh;
  const file = (name: string): string => join(folder, name);

  beforeAll(async () => {
    mesh = sharedMesh();
    await register('stock', 'basket');
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  /** Registers an instance of each service in east, and waits until west has an address for all, and the global all instances: they come apart. */
  async function register(...services: readonly string[]): Promise<void> {
    for (const service of services) {
      const made = dataplane(`${service}-1`, service);
      expect(await mesh.zone('east').put(`/meshes/default/dataplanes/${service}-1`, made)).toBe(201);
    }
    for (const service of services) {
      await until(`west has ${service}`, () => address('west', service));
      const instance = `/meshes/default/dataplanes/${service}-1?zone=east`;
      await until(`the global has the instance of ${service}`, () => mesh.global.get(instance));
    }
  }

  const service = async (zone: string, name: string): Promise<Held | undefined> =>
    mesh.zone(zone).get(`/meshes/default/meshservices/${name}?zone=east`);
  const address = async (zone: string, name: string): Promise<string | undefined> =>
    (await service(zone, name))?.status?.vip?.ip;

  /** Runs `import` of a control plane's program, on an empty database or another one. */
  function importBackup(
    app: 'global' | 'zone',
    args: readonly string[],
    env: Record<string, string>,
  ): { code: number | null; out: string; err: string } {
    const main = resolve(ROOT, 'dist', 'apps', app, 'src', 'main.js');
    const { PATH = '', NODE_OPTIONS = '' } = process.env;
    const ran = spawnSync(process.execPath, [main, 'import', ...args], {
      env: { PATH, NODE_OPTIONS, ...env },
      encoding: 'utf8',
    });
    return { code: ran.status, out: ran.stdout, err: ran.stderr };
  }

  /** Returns the message of a refused restore, without a new process. */
  async function refusal(cp: ControlPlane, DATABASE_URL: string, path: string): Promise<string> {
    const ends = ['SIGINT', 'SIGTERM'] as const;
    const listeners = ends.map((signal) => process.listeners(signal));
    let said = '';
    const stderr = jest.spyOn(process.stderr, 'write').mockImplementation((text) => ((said += String(text)), true));
    try {
      await importBackupHere(cp, { DATABASE_URL }, { file: path, dryRun: false });
      expect(process.exitCode).toBe(1);
    } finally {
      stderr.mockRestore();
      process.exitCode = undefined;
      for (const [i, signal] of ends.entries())
        for (const each of process.listeners(signal)) if (!listeners[i]?.includes(each)) process.off(signal, each);
    }
    return said;
  }

  async function exported(plane: ProcessPlane, name: string): Promise<string> {
    const ran = await runAsAdmin(plane.restUrl, ['export', '--secrets', '--output', file(name)]);
    expect(ran).toMatchObject({ code: 0, err: expect.stringMatching(/^exported .*\nit holds secrets in plain text/) });
    expect(statSync(file(name)).mode & 0o777).toBe(0o600);
    return file(name);
  }

  it('is for administrators, and the audit log says who took it', async () => {
    const { global } = mesh;
    const token = await global.text('/tokens/user', { name: 'bob', groups: [], validFor: '1h' });
    const refused = await fetch(`${global.restUrl}/_backup`, { headers: { authorization: `Bearer ${token}` } });
    expect(refused.status).toBe(403);
    const ran = await runAsAdmin(global.restUrl, ['export', '-o', file('none')], '', { CAUSEWAY_TOKEN: token });
    expect(ran.code).toBe(1);
    expect(() => statSync(file('none'))).toThrow('ENOENT');
    const whole = await adminFetch(`${global.restUrl}/_backup?secrets=true`);
    expect((await whole.text()).trimEnd().split('\n').at(-1)).toMatch(
      /^{"end":{"records":\d+,"sha256":"[0-9a-f]{64}"}}$/,
    );
    const audit = await until('the audit log has both', async () => {
      const { items } = (await global.get('/_audit')) ?? {};
      const text = JSON.stringify(items);
      return text.includes('export the store with its secrets') && text.includes('"user":"bob"') ? text : undefined;
    });
    expect(audit).toContain('"result":"refused"');
  });

  it('brings a zone back with its identities and addresses; what it lacks stays until it is confirmed (I2, I5)', async () => {
    const backup = await exported(mesh.zone('east'), 'east');
    const [before, seen] = [await service('east', 'stock'), await address('west', 'stock')];
    await register('late');
    const late = await address('west', 'late');
    await mesh.zone('east').stop();

    const DATABASE_URL = await mesh.replaceDatabase('east');
    const [cut, whole] = [file('cut'), readFileSync(backup, 'utf8')];
    writeFileSync(cut, whole.slice(0, whole.length - 20));
    const env = { DATABASE_URL, CAUSEWAY_ZONE_NAME: 'east' };
    for (const [file, says] of [
      [join(folder, 'none'), 'cannot be read: ENOENT'],
      [folder, 'is no file'],
    ] as const)
      expect(await refusal(EAST, DATABASE_URL, file)).toContain(says);
    expect(await refusal(EAST, DATABASE_URL, cut)).toMatch(
      /line \d+: is no JSON object[^]*line \d+: has no end[^]*nothing was restored\n$/,
    );
    expect(await refusal({ ...EAST, zone: 'west' }, DATABASE_URL, backup)).toMatch(
      /line 1: the backup is of zone "east", and this is zone "west"/,
    );
    expect(importBackup('zone', [backup, '--dry-run'], env)).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^would be restored: zone east/),
    });
    expect(importBackup('zone', [backup], env)).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^restored: zone east as of /),
    });
    expect(await refusal(EAST, DATABASE_URL, backup)).toMatch(
      /^causeway: the database is not empty: it is of zone "east"; .*create another one/m,
    );

    await mesh.startZone('east');
    expect(await service('east', 'stock')).toMatchObject({
      uid: before?.uid,
      generation: before?.generation,
      labels: before?.labels,
      status: { vip: before?.status?.vip },
    });
    await until(
      'the global holds what east lacks',
      async () => (await mesh.global.metric('causeway_sync_held').catch(() => 0)) >= 2,
    );
    expect([await address('west', 'stock'), await address('west', 'late')]).toEqual([seen, late]);
    const confirmed = await runAsAdmin(mesh.global.restUrl, ['zones', 'confirm', 'east']);
    expect(confirmed.code).toBe(0);
    await until('west has lost what east lacks', async () => (await service('west', 'late')) === undefined);
    expect(await address('west', 'stock')).toBe(seen);
  });

  it('brings the global back; zones keep all, and it learns from them what it lacks (I4, I5)', async () => {
    const backup = await exported(mesh.global, 'global');
    await register('later');
    const seen = await Promise.all(['stock', 'basket', 'later'].map((name) => address('west', name)));
    expect(seen).not.toContain(undefined);
    expect(await mesh.global.put('/meshes/payments', { type: 'Mesh', name: 'payments' })).toBe(201);
    await until('west has the mesh', () => mesh.zone('west').get('/meshes/payments'));
    await mesh.global.stop();
    const DATABASE_URL = await mesh.replaceDatabase('global');
    expect(importBackup('global', ['-'], { DATABASE_URL })).toMatchObject({
      code: 1,
      err: expect.stringMatching(/the backup is empty/),
    });
    expect(importBackup('global', [backup], { DATABASE_URL }).code).toBe(0);

    const global = await mesh.startGlobal();
    await until('the global has again what east made after the backup', () =>
      global.get('/meshes/default/meshservices/later?zone=east'),
    );
    // It is created afterwards, so when it is known, the global has learned everything before it: only what it lacks is confirmed.
    await register('settled');
    await until(
      'west holds what the global lacks',
      async () =>
        (await mesh
          .zone('west')
          .metric('causeway_sync_held')
          .catch(() => 0)) >= 1,
    );
    expect(await Promise.all(['stock', 'basket', 'later'].map((name) => address('west', name)))).toEqual(seen);
    expect(await mesh.zone('west').get('/meshes/payments')).toBeDefined();
    const confirmed = await runAsAdmin(mesh.zone('west').restUrl, ['zones', 'confirm-global']);
    expect(confirmed.code).toBe(0);
    await until('west has let go of it', async () => (await mesh.zone('west').get('/meshes/payments')) === undefined);
    expect(await Promise.all(['stock', 'basket', 'later'].map((name) => address('west', name)))).toEqual(seen);
  });
});
