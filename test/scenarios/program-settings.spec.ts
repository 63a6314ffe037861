import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { globalHelp, globalSettings } from '../../apps/global/src/config';
import { zoneHelp, zoneSettings } from '../../apps/zone/src/config';
import { version } from '../../package.json';
import { createTestDatabase, type TestDatabase } from '../support/postgres';
import { ProcessPlane, type PlaneEnvironment } from '../support/process-plane';

const ROOT = resolve(__dirname, '..', '..');

/** What a program that ends by itself says. */
function run(
  app: string,
  args: readonly string[],
  env: PlaneEnvironment = {},
): readonly [number | null, string, string] {
  const main = ['dist', 'apps', app, 'src', 'main.js'].join('/');
  const { PATH = '', NODE_OPTIONS = '' } = process.env;
  const ran = spawnSync(process.execPath, [main, ...args], {
    cwd: ROOT,
    env: { PATH, NODE_OPTIONS, ...env },
    encoding: 'utf8',
  });
  return [ran.status, ran.stdout, ran.stderr];
}

/** Variables that stand in an environment and that nobody meant for a control plane. */
const OF_OTHERS: PlaneEnvironment = {
  CAUSEWAY_SERVER: 'http://127.0.0.1:5681',
  CAUSEWAY_DATA_DIR: '/data',
  CAUSEWAY_POSTGRES_PORT: '15432',
  ...Object.fromEntries(
    ['GLOBAL_REST', 'GLOBAL_DIAGNOSTICS', 'GLOBAL_KDS', 'EAST_REST', 'EAST_DNS', 'WEST_DIAGNOSTICS'].map((name) => [
      `CAUSEWAY_${name}_PORT`,
      '0',
    ]),
  ),
  CAUSEWAY_PORT: 'tcp://10.0.0.1:5681',
  CAUSEWAY_PORT_5681_TCP: 'tcp://10.0.0.1:5681',
  CAUSEWAY_PORT_5681_TCP_PROTO: 'tcp',
  CAUSEWAY_SERVICE_HOST: '10.0.0.1',
  CAUSEWAY_SERVICE_PORT: '5681',
  CAUSEWAY_SERVICE_PORT_REST: '5681',
  CAUSEWAY_GLOBAL_SERVICE_HOST: '10.0.0.2',
  CAUSEWAY_GLOBAL_PORT: 'tcp://10.0.0.2:5685',
};

describe.each([
  ['global', globalSettings, globalHelp],
  ['zone', zoneSettings, zoneHelp],
] as const)('the program %s', (app, settings, help) => {
  it('shows its settings with --help, each with a line, and its version, whatever is configured', () => {
    const [code, out, err] = run(app, ['--help'], { CAUSEWAY_REST_PORT: 'x' });
    expect([code, err]).toEqual([0, '']);
    for (const name of Object.keys(settings)) {
      expect([name, help[name]]).toEqual([name, expect.stringMatching(/\w+ \w+/)]);
      expect(out).toMatch(new RegExp(`^ {2}${name} +\\S+ +\\S`, 'm'));
    }
    expect(run(app, ['--version'])).toEqual([0, `${version}\n`, '']);
  });

  it('refuses an argument that it does not know, and a variable that was likely meant as a setting, in a line', () => {
    expect(run(app, ['--hlep'])).toEqual([
      2,
      '',
      'causeway: unknown argument --hlep: settings are environment variables, --help lists them\n',
    ]);
    const env = { DATABASE_URL: 'postgres://127.0.0.1:1/x', CAUSEWAY_ZONE_NAME: 'east', CAUSEWAY_REST_PROT: '1' };
    expect(run(app, [], env)).toEqual([
      2,
      '',
      'causeway: CAUSEWAY_REST_PROT is not a known environment variable; did you mean CAUSEWAY_REST_PORT?\n',
    ]);
  });
});

describe('a control plane', () => {
  it.each([
    ['zone', 'CAUSEWAY_VIP_REST', 'CAUSEWAY_VIP_COOLDOWN'],
    ['zone', 'CAUSEWAY_DNS_FORWARD_PENDING_PER_ASKER', 'CAUSEWAY_DNS_FORWARD_PENDING_PER_CLIENT'],
    ['zone', 'CAUSEWAY_DNS_TCP_CONNECTIONS_PER_ASKER', 'CAUSEWAY_DNS_TCP_CONNECTIONS_PER_CLIENT'],
    ['global', 'CAUSEWAY_KDS_INTAKE_BYTES', 'CAUSEWAY_KDS_INBOUND_BYTES'],
  ] as const)('names the successor of a setting that is called otherwise now: %s %s', (app, former, name) => {
    const zone = app === 'zone' ? { CAUSEWAY_ZONE_NAME: 'east' } : {};
    const env = { DATABASE_URL: 'postgres://127.0.0.1:1/x', ...zone, [former]: '60' };
    expect(run(app, [], env)).toEqual([2, '', `causeway: ${former} is called ${name} now\n`]);
  });
});

describe.each([
  ['global', {}],
  ['zone', { CAUSEWAY_ZONE_NAME: 'east' }],
])('a %s and the names of its Meshes', (app, names) => {
  const start = (env: PlaneEnvironment): ReturnType<typeof run> =>
    run(app, [], { DATABASE_URL: 'postgres://127.0.0.1:1/x', ...names, ...env });

  it.each(['', 'linkerd', 'example.com/', '/x', 'Example.com/x'])(
    'T000-04 CAUSEWAY_MESH_CONTROLLER_NAME "%s" ends it with one line',
    (given) => {
      const [code, , err] = start({ CAUSEWAY_MESH_CONTROLLER_NAME: given });
      expect(code).toBe(2);
      expect(err).toMatch(/^causeway: CAUSEWAY_MESH_CONTROLLER_NAME: must .+; got ".*"\n$/);
    },
  );

  it('T000-14 so does a CAUSEWAY_MESH_NAME that no Mesh can have', () => {
    for (const given of ['', 'Shop', 'm'.repeat(64)]) {
      const [code, , err] = start({ CAUSEWAY_MESH_NAME: given });
      expect([code, err]).toEqual([2, expect.stringMatching(/^causeway: CAUSEWAY_MESH_NAME: must .+; got ".*"\n$/)]);
    }
  });
});

describe('control planes among variables that are not theirs', () => {
  let database: TestDatabase;
  beforeEach(async () => {
    database = await createTestDatabase();
  });
  afterEach(() => database.drop());

  it.each([
    ['global', zoneSettings],
    ['zone', globalSettings],
  ] as const)('a %s starts and says in one line which it ignores', async (app, others) => {
    const own: object = app === 'global' ? globalSettings : zoneSettings;
    const foreign = Object.keys(others).filter((name) => name.startsWith('CAUSEWAY_') && !(name in own));
    const ignored = { ...OF_OTHERS, ...Object.fromEntries(foreign.map((name) => [name, 'x'])) };
    const plane = await ProcessPlane.start(app, 'east', { DATABASE_URL: database.url, ...ignored });
    await plane.stop();
    const lines = plane.lastLines.filter((line) => line.includes('no setting of this program'));
    expect(lines).toHaveLength(1);
    expect(JSON.parse(lines[0] ?? '{}').variables.slice(0, 900)).toBe(
      Object.keys(ignored).sort().join(', ').slice(0, 900),
    );
  });
});
