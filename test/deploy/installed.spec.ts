import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { layPackage } from '../../scripts/lib/package-tree.mjs';
import { freePort } from '../../scripts/lib/ports.mjs';
import { createTestDatabase, type TestDatabase } from '../support/postgres';
import { until } from '../support/until';

const ROOT = resolve(__dirname, '..', '..');

/** The folder of the secrets of a unit, and of those in it that it names. */
const SECRETS = /\/etc\/causeway\/(\w+)\.secrets/;

/** Parses how a unit starts its program. */
function unitIn(text: string): {
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
} {
  const valuesOf = (setting: string): readonly string[] =>
    [...text.matchAll(new RegExp(`^${setting}=(.*)$`, 'gm'))].map(([, value]) => String(value));
  const pairs = valuesOf('Environment').flatMap((line) => line.split(' ').map((each) => each.split('=')));
  return {
    command: valuesOf('ExecStart')[0]?.split(' ') ?? [],
    environment: Object.fromEntries(pairs.map(([name, value]) => [String(name), String(value)])),
  };
}

/** The file of `npm pack`, installed by npm as on a host, and the commands of its units with the units' environment. */
describe('the package, installed', () => {
  const stops: (() => Promise<unknown> | void)[] = [];
  let folder: string;
  let database: TestDatabase;
  const ports: Record<string, number> = {};
  const OPERATOR = 'operator-of-the-test';

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'causeway-installed-'));
    stops.push(() => rmSync(folder, { recursive: true, force: true }));
    database = await createTestDatabase();
    stops.push(() => database.drop());
    for (const name of ['REST', 'GRPC', 'DIAGNOSTICS', 'XDS', 'DNS']) ports[name] = await freePort();
    layPackage(ROOT, join(folder, 'package'));
    const quiet = { cwd: folder, encoding: 'utf8' } as const;
    const file = execFileSync('npm', ['pack', './package', '--silent'], quiet).trim();
    const options = ['--global', '--prefix', join(folder, 'usr'), '--offline', '--no-audit', '--no-fund', '--silent'];
    execFileSync('npm', ['install', ...options, join(folder, file)], quiet);
  });
  afterAll(async () => {
    for (const stop of stops.reverse()) await stop();
  });

  const installed = (path: string): string => join(folder, 'usr/lib/node_modules/causeway', path);
  const path = (): string => [join(folder, 'usr/bin'), dirname(process.execPath), '/usr/bin', '/bin'].join(':');
  const home = (): Record<string, string> => ({
    PATH: path(),
    HOME: folder,
    CAUSEWAY_AGENT_STATE: join(folder, 'agent'),
  });

  /** Starts what a unit starts, with secrets in the files that it names and settings as of its file. */
  function start(
    program: string,
    secrets: Readonly<Record<string, string>>,
    settings: Readonly<Record<string, string>>,
  ): () => string {
    const unit = unitIn(readFileSync(installed(`deploy/systemd/causeway-${program}.service`), 'utf8'));
    const files = join(folder, `${program}.secrets`);
    mkdirSync(files);
    for (const [name, value] of Object.entries(secrets)) writeFileSync(join(files, name), value);
    const given = Object.entries(unit.environment).map(([name, value]) => [name, value.replace(SECRETS, files)]);
    const [command = '', ...args] = unit.command.map((word) => word.replace(/^\/etc\/causeway/, folder));
    const child = spawn(command, args, { env: { ...home(), ...Object.fromEntries(given), ...settings } });
    let said = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (text) => (said = (said + text).slice(-4_000)));
    stops.push(() => end(child));
    return () => {
      if (child.exitCode !== null) throw new Error(`causeway-${program} ended: ${said}`);
      return said;
    };
  }

  async function end(child: ChildProcess): Promise<void> {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((done) => child.once('exit', done));
    child.kill('SIGTERM');
    await ended;
  }

  const run = (command: string, ...args: readonly string[]): string =>
    execFileSync(command, args, { env: home(), encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  const causeway = (...args: readonly string[]): string =>
    run('causeway', '--server', `http://127.0.0.1:${ports['REST']}`, '--token', OPERATOR, ...args);

  it('has no package of npm, and its programs on the PATH', () => {
    expect(existsSync(installed('node_modules'))).toBe(false);
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
    for (const program of ['causeway-global', 'causeway-zone', 'causeway-agent'])
      expect(run(program, '--version')).toContain(version);
  });

  it('has a zone that is ready, and an agent that joins it and registers a service', async () => {
    const listen = Object.fromEntries(
      Object.entries(ports).map(([name, port]) => [`CAUSEWAY_${name}_PORT`, String(port)]),
    );
    const zone = start(
      'zone',
      { 'database-url': database.url, 'operator-token': OPERATOR },
      { ...listen, CAUSEWAY_ZONE_NAME: 'east', CAUSEWAY_XDS_TLS: 'on', CAUSEWAY_ADMIN_TOKEN_FILE: 'off' },
    );
    await until('the zone is ready', async () => {
      zone();
      const answer = await fetch(`http://127.0.0.1:${ports['DIAGNOSTICS']}/ready`).catch(() => undefined);
      return answer?.ok;
    });
    const service = createServer((_, answer) => answer.end('hello'));
    await new Promise<void>((done) => service.listen(0, '127.0.0.1', done));
    stops.push(() => new Promise((done) => service.close(done)));
    const { port: servicePort } = service.address() as AddressInfo;
    const xds = `127.0.0.1:${ports['XDS']}`;
    const bundle = causeway('tokens', 'dataplane', 'hello-1', '--service', 'hello', '--bundle', '--xds', xds);
    writeFileSync(join(folder, 'bundle'), bundle);
    const services = [{ name: 'hello', port: await freePort(), servicePort, health: { tcp: {} } }];
    const dataplanes = [{ name: 'hello-1', address: '127.0.0.1', services }];
    writeFileSync(
      join(folder, 'agent.yaml'),
      JSON.stringify({ bundle: join(folder, 'bundle'), plane: 'builtin', dataplanes }),
    );
    const agent = start('agent', {}, {});
    await until('the zone has the service', () => {
      agent();
      return /^east\s+default\s+hello\s+Available\b/m.test(causeway('get', 'meshservices'));
    }).catch((error: unknown) => {
      throw new Error(`${String(error)}: ${agent()}`);
    });
    expect(run('causeway-agent', 'status')).toMatch(/connected to 127\.0\.0\.1[^]*service hello .*ready/);
  });
});
