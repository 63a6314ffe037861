import { spawnSync } from 'node:child_process';
import { connect, createServer, type AddressInfo, type Server } from 'node:net';
import { resolve } from 'node:path';
import { globalConfig, globalHelp, globalSettings } from '../../apps/global/src/config';
import { kdsCertificateSource } from '../../apps/global/src/kds-options';
import { zoneConfig, zoneHelp, zoneSettings } from '../../apps/zone/src/config';
import { restCertificateSource } from '../../apps/control-plane/src/certificates/certificates.module';
import { checkRanges } from '../../apps/zone/src/address-ranges';
import { readGlobalAddress } from '../../apps/zone/src/global/global-address';
import { version } from '../../package.json';
import { Prng } from '../simulation/engine/prng';
import { runUntilItEnds, type EndedProgram } from '../support/ended-program';
import { createTestDatabase } from '../support/postgres';
import { ProcessPlane, type PlaneEnvironment } from '../support/process-plane';
import { unsignedToken } from '../support/zone-token';

const ROOT = resolve(__dirname, '..', '..');

/** Runs as a process a program that ends by itself. */
function runProcess(app: string, args: readonly string[], env: PlaneEnvironment = {}): EndedProgram {
  const main = ['dist', 'apps', app, 'src', 'main.js'].join('/');
  const { PATH = '', NODE_OPTIONS = '' } = process.env;
  const ran = spawnSync(process.execPath, [main, ...args], {
    cwd: ROOT,
    env: { PATH, NODE_OPTIONS, ...env },
    encoding: 'utf8',
  });
  return [ran.status, ran.stdout, ran.stderr];
}

/** Runs the program's reading of its arguments and settings within this process, before it opens anything. */
function run(app: string, args: readonly string[], env: PlaneEnvironment = {}): EndedProgram {
  return runUntilItEnds(() => {
    if (app === 'global') return kdsCertificateSource(globalConfig({ env, args }).values);
    const { values } = zoneConfig({ env, args });
    return [readGlobalAddress(values), checkRanges(values), restCertificateSource(values)];
  });
}

/** Variables of an environment that are not meant for a control plane. */
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
    const [code, out, err] = runProcess(app, ['--help'], { CAUSEWAY_REST_PORT: 'x' });
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
    expect(runProcess(app, [], env)).toEqual([
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

/** Connections among which some end at once: more than the steps of a start make. */
const ROCKY = 30;

/** A way to the database on which the first connection ends at once, and many of the next ones. */
function rockyWay(url: URL): { readonly server: Server; readonly tries: () => number } {
  const chance = new Prng(1);
  let tries = 0;
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    if (++tries === 1 || (tries <= ROCKY && chance.chance(0.5))) return void socket.destroy();
    const onward = connect(Number(url.port), url.hostname);
    onward.on('error', () => socket.destroy()).on('close', () => socket.destroy());
    socket.on('close', () => onward.destroy());
    socket.pipe(onward).pipe(socket);
  });
  return { server, tries: () => tries };
}

/** One start shows both: the program's warnings about variables, and that an idle program waits for its database. */
describe('control planes among variables that are not theirs, whose database comes and goes while they start', () => {
  it.each([
    ['global', zoneSettings],
    ['zone', globalSettings],
  ] as const)('a %s waits, serves once it is there, and says in one line which it ignores', async (app, others) => {
    const own: object = app === 'global' ? globalSettings : zoneSettings;
    const foreign = Object.keys(others).filter((name) => name.startsWith('CAUSEWAY_') && !(name in own));
    const ignored = { ...OF_OTHERS, ...Object.fromEntries(foreign.map((name) => [name, 'x'])) };
    const database = await createTestDatabase();
    const { server, tries } = rockyWay(new URL(database.url));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = new URL(database.url);
    url.port = String((server.address() as AddressInfo).port);
    try {
      const plane = await ProcessPlane.start(app, 'east', { DATABASE_URL: url.href, ...ignored });
      expect(tries()).toBeGreaterThan(3);
      expect(await plane.get('/')).toBeDefined();
      await plane.stop();
      const lines = plane.firstLines.filter((line) => line.includes('not settings of this program'));
      expect(lines).toHaveLength(1);
      expect(JSON.parse(lines[0] ?? '{}').variables.slice(0, 900)).toBe(
        Object.keys(ignored).sort().join(', ').slice(0, 900),
      );
    } finally {
      server.close();
      await database.drop();
    }
  });
});

it.each<[string, 'global' | 'zone', Record<string, string>, string]>([
  [
    'a key without its certificate',
    'global',
    { CAUSEWAY_KDS_TLS_KEY_FILE: 'x' },
    'CAUSEWAY_KDS_TLS_CERT_FILE and CAUSEWAY_KDS_TLS_KEY_FILE must be given together',
  ],
  [
    'a certificate where TLS is off',
    'global',
    { CAUSEWAY_KDS_TLS: 'off', CAUSEWAY_KDS_TLS_CERT_FILE: 'x', CAUSEWAY_KDS_TLS_KEY_FILE: 'y' },
    'CAUSEWAY_KDS_TLS_CERT_FILE and _KEY_FILE have no effect: CAUSEWAY_KDS_TLS is off',
  ],
  [
    'an authority for plain text',
    'zone',
    { CAUSEWAY_GLOBAL_ADDRESS: 'grpc://a:1', CAUSEWAY_GLOBAL_CA_FILE: 'x' },
    'CAUSEWAY_GLOBAL_ADDRESS: must be grpcs://host:port where TLS is configured',
  ],
  [
    'an authority that nothing is verified by',
    'zone',
    {
      CAUSEWAY_GLOBAL_ADDRESS: 'grpcs://a:1',
      CAUSEWAY_GLOBAL_CA_FILE: 'x',
      CAUSEWAY_GLOBAL_TLS_SKIP_VERIFY: 'true',
    },
    'CAUSEWAY_GLOBAL_TLS_SKIP_VERIFY: must not be true beside CAUSEWAY_GLOBAL_CA_FILE',
  ],
  [
    'two tokens',
    'zone',
    {
      CAUSEWAY_GLOBAL_ADDRESS: 'grpcs://a:1',
      CAUSEWAY_ZONE_TOKEN: unsignedToken({ Zone: 'east' }),
      CAUSEWAY_ZONE_TOKEN_FILE: 'y',
    },
    'CAUSEWAY_ZONE_TOKEN and CAUSEWAY_ZONE_TOKEN_FILE: give one of them',
  ],
  [
    'a key of REST without its certificate',
    'zone',
    { CAUSEWAY_REST_TLS_KEY_FILE: 'x' },
    'CAUSEWAY_REST_TLS_CERT_FILE and CAUSEWAY_REST_TLS_KEY_FILE must be given together',
  ],
  [
    'a certificate where TLS of REST is off',
    'zone',
    { CAUSEWAY_REST_TLS: 'off', CAUSEWAY_REST_TLS_CERT_FILE: 'x', CAUSEWAY_REST_TLS_KEY_FILE: 'y' },
    'CAUSEWAY_REST_TLS_CERT_FILE and _KEY_FILE have no effect: CAUSEWAY_REST_TLS is off',
  ],
])('%s is refused in one line', (_, app, own, line) => {
  const zone = app === 'zone' ? { CAUSEWAY_ZONE_NAME: 'east' } : {};
  expect(run(app, [], { DATABASE_URL: 'postgres://a@127.0.0.1:1/a', ...zone, ...own })).toEqual([
    2,
    '',
    `causeway: ${line}\n`,
  ]);
});

it.each<[string, PlaneEnvironment, RegExp]>([
  [
    'a public range',
    { CAUSEWAY_VIP_RANGE_MESHSERVICE: '8.8.0.0/24' },
    /CAUSEWAY_VIP_RANGE: .*8\.8\.0\.0\/24 is neither private nor reserved/,
  ],
  [
    'two equal ranges',
    { CAUSEWAY_VIP_RANGE_MESHSERVICE: '242.0.0.0/8' },
    /CAUSEWAY_VIP_RANGE: .*242\.0\.0\.0\/8 are the same range/,
  ],
])('%s: the zone does not start, and says why', (_, own, message) => {
  const env = { DATABASE_URL: 'postgres://a@127.0.0.1:1/a', CAUSEWAY_ZONE_NAME: 'west', ...own };
  expect(run('zone', [], env)).toEqual([2, '', expect.stringMatching(message)]);
});
