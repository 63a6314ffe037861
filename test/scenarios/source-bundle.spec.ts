import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { createTestDatabase, type TestDatabase } from '../support/postgres';
import { ProcessPlane } from '../support/process-plane';
import { describeWithRedis } from '../support/redis';
import { until } from '../support/until';

const ROOT = resolve(__dirname, '..', '..');

/** Bundles the control planes from their TypeScript, of which esbuild keeps no types: whatever Nest injects by type would be undefined. */
const BUNDLE = `
import { bundleControlPlanes } from ${JSON.stringify(pathToFileURL(join(ROOT, 'scripts', 'lib', 'bundle.mjs')).href)};
await bundleControlPlanes(...process.argv.slice(1));
`;

const GENERATORS = '/hostnamegenerators';
const generator = (name: string, template: unknown): Record<string, unknown> => ({
  type: 'HostnameGenerator',
  name,
  spec: { selector: { meshService: {} }, template },
});

describeWithRedis('control planes that esbuild bundled from the sources', (redisUrl) => {
  const tree = mkdtempSync(join(tmpdir(), 'causeway-bundle-'));
  let databases: readonly TestDatabase[] = [];
  let planes: readonly ProcessPlane[] = [];
  const folderOf = (app: string): string => join(tree, 'dist', 'apps', app, 'src');
  const planeOf = (app: string): ProcessPlane => {
    const plane = planes.find((each) => each.app === app);
    if (!plane) throw new Error(`no ${app} has started`);
    return plane;
  };

  beforeAll(async () => {
    execFileSync(process.execPath, ['--input-type=module', '-e', BUNDLE, ROOT, join(tree, 'dist')]);
    databases = await Promise.all([createTestDatabase(), createTestDatabase()]);
    const [one, two] = databases.map(({ url }) => ({ DATABASE_URL: url, REDIS_URL: redisUrl }));
    const open = { CAUSEWAY_KDS_BIND_ADDRESS: '127.0.0.1', CAUSEWAY_KDS_AUTH: 'none', CAUSEWAY_KDS_TLS: 'off' };
    const global = await ProcessPlane.start('global', 'global', { ...one, ...open }, tree);
    planes = [global];
    const joined = { CAUSEWAY_GLOBAL_ADDRESS: `grpc://${global.kdsAddress}` };
    planes = [global, await ProcessPlane.start('zone', 'east', { ...two, ...joined }, tree)];
  });
  afterAll(async () => {
    await Promise.all(planes.map((plane) => plane.stop()));
    await Promise.all(databases.map((database) => database.drop()));
    rmSync(tree, { recursive: true });
  });

  it.each(['global', 'zone'])('have beside the program what it reads and starts by its path (%s)', (app) => {
    const files = readdirSync(folderOf(app)).filter((file) => !/\.(map|txt)$/.test(file));
    const steps = readdirSync(join(ROOT, 'migrations')).filter((file) => /^\d{4}-.*\.sql$/.test(file));
    expect(files).toEqual(expect.arrayContaining(['body-worker.js', 'lease-worker.js', 'main.js', ...steps]));
    expect(readFileSync(join(folderOf(app), 'main.js'), 'utf8')).not.toMatch(/require\("@causeway\//);
  });

  it.each(['global', 'zone'])('answer requests (%s)', async (app) => {
    const plane = planeOf(app);
    expect(await plane.get('/')).toMatchObject({ product: 'Causeway', mode: app });
    const path = `${GENERATORS}/of-${app}`;
    const put = (body: unknown): Promise<Response> =>
      plane.fetch(path, { method: 'PUT', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
    const made = await put(generator(`of-${app}`, `{{ name }}.${app}.bundled`));
    expect([made.status, await made.text()]).toEqual([201, '{}']);
    expect(await plane.text(GENERATORS)).toContain(`"of-${app}"`);
    const wrong = await put(generator(`of-${app}`, 7));
    expect([wrong.status, await wrong.text()]).toEqual([422, expect.stringContaining('spec.template')]);
    const stranger = await fetch(plane.restUrl + path, { method: 'DELETE' });
    expect(stranger.status).toBe(401);
  });

  it('sync both ways, and lead by Redis', async () => {
    const [global, zone] = [planeOf('global'), planeOf('zone')];
    await until('each has what the other wrote', async () => {
      const [above, below] = [await global.text(GENERATORS), await zone.text(GENERATORS)];
      return above.includes('"of-zone') && below.includes('"of-global');
    });
    for (const plane of planes) expect(await plane.metric('causeway_leader_redis_connected')).toBe(1);
  });

  it('end in order', async () => {
    for (const plane of [...planes].reverse()) await plane.stop();
    for (const plane of planes) expect(plane.lastLines.at(-1)).toContain('"ended"');
  });
});
