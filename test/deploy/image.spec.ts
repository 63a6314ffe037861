import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { Client } from 'pg';
import { parse } from 'yaml';
import { layPackage } from '../../scripts/lib/package-tree.mjs';
import { freePort } from '../../scripts/lib/ports.mjs';
import { describeWith, works } from '../dns/programs';
import { until } from '../support/until';

const ROOT = resolve(__dirname, '..', '..');
const IN_IMAGE = join(__dirname, 'in-image.sh');
const NAMESPACE = ['--mount', 'sh', IN_IMAGE];
const PLANES = ['global', 'east'] as const;
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

interface Service {
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
}
const { services } = parse(read('docker-compose.yml'), { merge: true }) as { services: Record<string, Service> };

/** The health check of the image, as a command. */
function healthCheck(): readonly string[] {
  const [, command = '[]'] = /^HEALTHCHECK .*\\\n\s+CMD (\[.*\])$/m.exec(read('Dockerfile')) ?? [];
  return JSON.parse(command) as readonly string[];
}

const there =
  process.getuid?.() === 0 && ['psql', 'redis-server', 'setpriv', 'unshare'].every((each) => works(each, '--version'));

describeWith(
  'the image without an engine',
  there,
  'as root, apt-get install postgresql-client redis-server',
)('the programs of docker-compose.yml, from the tree of the image', () => {
  const stops: (() => Promise<void> | void)[] = [];
  const ports: Record<string, number> = {};
  let folder: string;
  let redisPort: number;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'causeway-image-'));
    stops.push(() => rmSync(folder, { recursive: true }));
    layPackage(ROOT, join(folder, 'package'));
    succeed('sh', [join(ROOT, 'deploy/secrets.sh'), 'east'], { CAUSEWAY_SECRETS_FOLDER: join(folder, 'secrets') });
    for (const name of ['global.diagnostics', 'global.rest', 'global.grpc', 'global.kds'])
      ports[name] = await freePort();
    for (const name of ['diagnostics', 'rest', 'grpc', 'dns', 'xds']) ports[`east.${name}`] = await freePort();
    await makeDatabases();
    await startRedis();
    for (const name of PLANES) layRoot(name);
  });
  afterAll(async () => {
    for (const stop of stops.reverse()) await stop();
  });

  function succeed(program: string, args: readonly string[], env: Readonly<Record<string, string>>): void {
    const { status, stderr } = spawnSync(program, args, { env: { ...process.env, ...env }, encoding: 'utf8' });
    if (status !== 0) throw new Error(`${program} ${args.join(' ')}: ${stderr}`);
  }

  async function sql(...statements: readonly string[]): Promise<void> {
    const client = new Client({ connectionString: process.env['CAUSEWAY_TEST_DATABASE_URL'] });
    await client.connect();
    for (const statement of statements) await client.query(statement);
    await client.end();
  }

  /** Runs the script of the service `databases` twice: existing databases stay. */
  async function makeDatabases(): Promise<void> {
    stops.push(() =>
      sql(
        ...PLANES.flatMap((name) => [
          `DROP DATABASE IF EXISTS causeway_${name} WITH (FORCE)`,
          `DROP ROLE IF EXISTS causeway_${name}`,
        ]),
      ),
    );
    const server = new URL(String(process.env['CAUSEWAY_TEST_DATABASE_URL']));
    writeFileSync(join(folder, 'superuser'), decodeURIComponent(server.password));
    const env = {
      PGHOST: server.hostname,
      PGPORT: server.port,
      PGUSER: server.username,
      ONCE: 'yes',
      PASSWORD_FILE: join(folder, 'superuser'),
      ROLES: join(folder, 'secrets/postgres/roles'),
      DONE: join(folder, 'done'),
    };
    for (const _time of ['first', 'second']) succeed('sh', [join(ROOT, 'deploy/databases.sh')], env);
  }

  async function startRedis(): Promise<void> {
    redisPort = await freePort();
    const args = [
      join(folder, 'secrets/redis/redis.conf'),
      '--port',
      String(redisPort),
      '--bind',
      '127.0.0.1',
      '--dir',
      folder,
    ];
    const child = spawn('redis-server', args, { stdio: 'ignore' });
    stops.push(() => end(child));
  }

  /** Makes the root of a container, with the secrets of its service mounted. */
  function layRoot(name: string): void {
    const root = join(folder, name);
    cpSync(join(folder, 'package'), join(root, 'opt/causeway'), { recursive: true });
    cpSync(join(folder, 'secrets', name), join(root, 'run/secrets'), { recursive: true });
    for (const each of ['zones', 'usr', 'dev', 'proc', 'tmp', 'etc', 'node']) mkdirSync(join(root, each));
    for (const each of ['bin', 'sbin', 'lib', 'lib64']) symlinkSync(`usr/${each}`, join(root, each));
    const server = new URL(String(process.env['CAUSEWAY_TEST_DATABASE_URL']));
    for (const [file, from, to] of [
      ['database-url', 'postgres:5432', server.host],
      ['redis-url', 'redis:6379', `127.0.0.1:${redisPort}`],
    ] as const) {
      const path = join(root, 'run/secrets', file);
      const text = readFileSync(path, 'utf8');
      expect(text).toContain(`@${from}`);
      rmSync(path);
      writeFileSync(path, text.replace(`@${from}`, `@${to}`), { mode: 0o444 });
    }
  }

  /** The environment of the service, but for what cannot be the same beside others on one machine: addresses and ports. */
  function environmentOf(name: string): Readonly<Record<string, string>> {
    const own = Object.entries(ports).flatMap(([key, port]) =>
      key.startsWith(`${name}.`) ? [[`CAUSEWAY_${key.slice(name.length + 1).toUpperCase()}_PORT`, String(port)]] : [],
    );
    const bound = { CAUSEWAY_BIND_ADDRESS: '127.0.0.1', CAUSEWAY_REST_TLS: 'on' };
    const global =
      name === 'global'
        ? { CAUSEWAY_KDS_BIND_ADDRESS: '127.0.0.1' }
        : { CAUSEWAY_GLOBAL_ADDRESS: `grpcs://localhost:${ports['global.kds']}` };
    return { NODE_ENV: 'production', ...services[name]?.environment, ...bound, ...global, ...Object.fromEntries(own) };
  }

  const inImage = (name: string, command: readonly string[]): readonly string[] => [
    ...NAMESPACE,
    join(folder, name),
    dirname(process.execPath),
    ...command,
  ];

  function start(name: string): { readonly child: ChildProcess; readonly said: () => string } {
    const child = spawn('unshare', inImage(name, services[name]?.command ?? []), { env: environmentOf(name) });
    let said = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (text) => (said = (said + text).slice(-4_000)));
    stops.push(() => end(child));
    return { child, said: () => said };
  }

  async function end(child: ChildProcess): Promise<void> {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((done) => child.once('exit', done));
    child.kill('SIGKILL');
    await ended;
  }

  const check = (
    name: string,
    command: readonly string[],
  ): { readonly status: number | null; readonly output: string } => {
    const { status, stdout, stderr } = spawnSync('unshare', inImage(name, command), {
      env: environmentOf(name),
      encoding: 'utf8',
    });
    return { status, output: `${stdout}${stderr}` };
  };

  async function untilHealthy(name: string): Promise<void> {
    const { child, said } = start(name);
    await until(`${name} is healthy`, () => {
      if (child.exitCode !== null) throw new Error(`${name} ended: ${said()}`);
      return check(name, healthCheck()).status === 0;
    });
  }

  it('writes nothing outside of /tmp, and is nobody who could', () => {
    const tried = check('global', [
      'sh',
      '-c',
      'id -u; grep CapBnd /proc/self/status; touch /tmp/a && ! touch /opt/causeway/a /run/secrets/a /a',
    ]);
    expect(tried.output).toMatch(/^1000\nCapBnd:\t0+\n/);
    expect(tried.output.match(/Read-only file system/g)).toHaveLength(3);
    expect(tried.status).toBe(0);
  });

  it('is not healthy before it runs', () => expect(check('global', healthCheck())).toEqual({ status: 1, output: '' }));

  it('has a global that is healthy, whose credentials a zone joins by, which is healthy then', async () => {
    await untilHealthy('global');
    const credentials = spawn(process.execPath, [join(ROOT, 'deploy/zone-credentials.mjs')], {
      stdio: 'ignore',
      env: {
        CAUSEWAY_SERVER: `https://localhost:${ports['global.rest']}`,
        CAUSEWAY_OPERATOR_TOKEN_FILE: join(folder, 'secrets/credentials/operator-token'),
        ZONES_FILE: join(folder, 'secrets/credentials/zones'),
        ZONES_FOLDER: join(folder, 'east/zones'),
      },
    });
    stops.push(() => end(credentials));
    await until('there are credentials', () => works('test', '-f', join(folder, 'east/zones/done')));
    await untilHealthy('east');
    const token = readFileSync(join(folder, 'secrets/credentials/operator-token'), 'utf8');
    const rest = [
      `-s`,
      `https://localhost:${ports['global.rest']}`,
      '--ca-file',
      '/zones/global-rest-ca.pem',
      '--token',
      token,
    ];
    const zones = (): string => check('east', ['causeway', ...rest, 'zones']).output;
    await until('the global sees the zone online', () => /^east\s+true\s+Online\b/m.test(zones()));
  });
});
