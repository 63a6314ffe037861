import { Client } from 'pg';
import { createTestDatabase, type TestDatabase } from '../support/postgres';
import { ProcessPlane, type PlaneEnvironment } from '../support/process-plane';
import { until } from '../support/until';

/** Set ODD_ROWS=100000 for as many as a mesh may have. */
const ROWS = Number(process.env['ODD_ROWS'] ?? 20_000);

jest.setTimeout(600_000);

/** So many rows take a slow machine minutes, ms. */
const PATIENCE = 400_000;

/** JSON that no schema allows, as an older version, a hand in the database or a restore from elsewhere could leave it. */
const KINDS = [
  'MeshService',
  'Dataplane',
  'Mesh',
  'Zone',
  'GlobalSecret',
  'Secret',
  'MeshExternalService',
  'MeshMultiZoneService',
  'Namespace',
  'Unheard',
];
const SPECS = [
  '{}',
  '[]',
  'null',
  '"x"',
  '5',
  '{"ports": "x", "selector": 5}',
  '{"ports": [null, 1, {}, {"port": "x"}]}',
  '{"template": 5, "selector": []}',
  '{"template": "{{{{{{", "selector": {"meshService": {"matchLabels": 5}}}',
  '{"networking": []}',
  '{"networking": {"inbound": [null, {"tags": 5}, {"port": {}}]}}',
  '{"data": 5}',
  '{"enabled": "x", "lost": 5, "auth": {}}',
  '{"match": 7, "endpoints": "x"}',
];
const LABELS = [
  '{}',
  '[]',
  'null',
  '"x"',
  '{"a": 5, "kuma.io/zone": null}',
  '{"kuma.io/origin": "x", "kuma.io/display-name": ""}',
];
const STATUSES = [
  null,
  'null',
  '[]',
  '"x"',
  '{"vip": 5, "addresses": "x", "conditions": [1, null]}',
  '{"vip": {"ip": "x"}, "addresses": [null, {"hostname": 5}], "conditions": {}}',
];
/** Only our own SQL writes freed addresses; edits by others are not repaired there. */
const FREED = ['[]'];
const NAMES = ['n', 'a b', 'a\nb', '*', 'Ü'];

/** Numbers run on by different primes, so that every kind meets every other oddity. */
const INSERT = `
INSERT INTO resources
SELECT CASE n % 997 WHEN 0 THEN 'HostnameGenerator' ELSE k[1 + n % ${KINDS.length}] END, CASE n % 3 WHEN 0 THEN 'default' WHEN 1 THEN '' ELSE 'no mesh' END,
  CASE n % 4 WHEN 0 THEN '' WHEN 1 THEN 'east' ELSE 'elsewhere' END, CASE n % 2 WHEN 0 THEN '' ELSE 'default' END,
  m[1 + n / 7 % ${NAMES.length}] || n, CASE n % 5 WHEN 0 THEN '' ELSE 'u' || n END,
  l[1 + n / 11 % ${LABELS.length}]::jsonb, s[1 + n / 13 % ${SPECS.length}]::jsonb, t[1 + n / 17 % ${STATUSES.length}]::jsonb,
  1, n, 0, 0, (SELECT revision FROM store_head) + n, CASE n % 2 WHEN 0 THEN NULL ELSE 'other' END, n, 0, NULL,
  f[1 + n / 19 % ${FREED.length}]::jsonb, NULL, CASE n % 23 WHEN 0 THEN extract(epoch FROM now()) * 1000 END
FROM generate_series(1, ${ROWS}) n, (SELECT $1::text[] k, $2::text[] s, $3::text[] l, $4::text[] t, $5::text[] f, $6::text[] m) odd`;

describe.each([
  ['global', 'global'],
  ['zone', 'east'],
] as const)('a %s whose store holds many odd rows', (app, name) => {
  let database: TestDatabase;
  let plane: ProcessPlane | undefined;
  let env: PlaneEnvironment;

  beforeAll(async () => {
    database = await createTestDatabase();
    env = { DATABASE_URL: database.url, CAUSEWAY_KDS_TLS: 'on' };
    if (app === 'zone') env = { DATABASE_URL: database.url };
    await (await ProcessPlane.start(app, name, env)).stop();
    const client = new Client({ connectionString: database.url });
    await client.connect();
    await client.query(INSERT, [KINDS, SPECS, LABELS, STATUSES, FREED, NAMES]);
    await client.query(
      `UPDATE store_head SET revision = revision + ${ROWS}, creation_order = creation_order + ${ROWS}`,
    );
    await client.end();
  });
  afterAll(async () => {
    await plane?.stop();
    await database.drop();
  });

  it('starts, leads, serves what is sound and takes what is written', async () => {
    plane = await ProcessPlane.start(app, name, env);
    const running = plane;
    await until('it leads', async () => {
      const metrics = await fetch(`${running.diagnosticsUrl}/metrics`).then((answer) => answer.text());
      return /^\S*leader 1$/m.test(metrics);
    });
    for (const path of ['/meshes', '/meshes/default/meshservices', '/hostnamegenerators', '/zones']) {
      expect({ path, answer: await running.get(path) }).toMatchObject({ path, answer: { items: expect.any(Array) } });
    }
    if (app === 'zone') {
      const spec = {
        networking: { address: '10.0.0.1', inbound: [{ port: 80, tags: { 'kuma.io/service': 'sound' } }] },
      };
      const body = { type: 'Dataplane', mesh: 'default', name: 'sound-1', spec };
      expect(await running.put('/meshes/default/dataplanes/sound-1', body)).toBe(201);
      const isComplete = async (): Promise<boolean> => {
        const service = await running.get('/meshes/default/meshservices/sound');
        return /"vip":\{"ip".*"status":"Available"/.test(JSON.stringify(service ?? {}));
      };
      await until('the service has an address and a name', isComplete, PATIENCE).catch((error: unknown) => {
        throw new Error(running.lastLines.join('\n'), { cause: error });
      });
    }
    expect(running.lastLines.join('\n')).not.toMatch(/broken/);
  });
});
