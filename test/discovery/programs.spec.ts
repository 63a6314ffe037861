import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../scripts/lib/ports.mjs';
import { describeWith, works } from '../dns/programs';
import { ADMIN_TOKEN } from '../support/admin-credential';
import { createTestDatabase, type TestDatabase } from '../support/postgres';
import { until } from '../support/until';
import { ZoneProgram } from '../support/zone-program';

/** Programs without a proxy find services by the configurations of docs/guides/without-proxy.md. */
const GUIDE = readFileSync(join(__dirname, '../../docs/guides/without-proxy.md'), 'utf8');
const DEBIAN = 'apt-get install haproxy nginx-light prometheus';
const HOSTS = ['127.0.0.2', '127.0.0.3'] as const;

/** The first block of a language in the guide, with other ports and times. */
function fromGuide(language: string, replaced: Readonly<Record<string, string>>): string {
  const [, block = ''] = new RegExp(`\`\`\`${language}\n([^\`]+)\`\`\``).exec(GUIDE) ?? [];
  return Object.entries(replaced).reduce((text, [from, to]) => {
    if (!text.includes(from)) throw new Error(`the ${language} block of the guide has no ${from}`);
    return text.replaceAll(from, to);
  }, block);
}

let database: TestDatabase;
let zone: ZoneProgram;
let folder: string;
let dnsPort: number;
let webPort: number;
const servers: Server[] = [];
let program: ChildProcess | undefined;
let printed = '';

/** Two processes of one service that announce their addresses and have metrics. */
const dataplane = (i: number, state = 'Ready') => ({
  type: 'Dataplane',
  mesh: 'default',
  name: `web-${i}`,
  networking: {
    address: HOSTS[i - 1],
    inbound: [{ port: webPort, name: 'web', tags: { 'kuma.io/service': 'web' }, state }],
  },
});

beforeAll(async () => {
  [dnsPort, webPort, database] = await Promise.all([freePort(), freePort(), createTestDatabase()]);
  folder = mkdtempSync(join(tmpdir(), 'causeway-discovery-'));
  for (const host of HOSTS) {
    const server = createHttpServer((request, response) =>
      response.end(request.url === '/metrics' ? 'demo_answers_total 1\n' : host),
    ).listen(webPort, host);
    await once(server, 'listening');
    servers.push(server);
  }
  zone = await ZoneProgram.start({
    DATABASE_URL: database.url,
    CAUSEWAY_DNS_PORT: String(dnsPort),
    CAUSEWAY_DNS_TTL: '1s',
    CAUSEWAY_DNS_FORWARD: 'off',
    CAUSEWAY_DNS_DIRECT_SUFFIX: 'direct.mesh.local',
  });
  await zone.untilLeading();
  for (const i of [1, 2]) await zone.put(`/meshes/default/dataplanes/web-${i}`, dataplane(i));
  for (const name of ['redis', 'web'])
    await zone.put(`/meshes/default/meshservices/${name}`, {
      type: 'MeshService',
      mesh: 'default',
      name,
      spec: {
        selector: { dataplaneTags: { 'kuma.io/service': 'web' } },
        ports: [{ port: 80, name: name === 'web' ? 'metrics' : name, targetPort: 'web', appProtocol: 'http' }],
      },
    });
});

afterEach(async () => {
  if (program && program.exitCode === null && program.signalCode === null) {
    program.kill('SIGKILL');
    await once(program, 'exit');
  }
  program = undefined;
});

afterAll(async () => {
  await zone.stop();
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  await database.drop();
  rmSync(folder, { recursive: true, force: true });
});

/** Runs a program until the end of the test. */
function start(name: string, ...args: string[]): void {
  printed = '';
  program = spawn(name, args, { stdio: ['ignore', 'pipe', 'pipe'], cwd: folder });
  for (const stream of [program.stdout, program.stderr])
    stream?.on('data', (text: Buffer) => (printed += String(text)));
}

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

/** Returns the text at a URL; undefined while no server answers. */
async function read(url: string): Promise<string | undefined> {
  if (program && (program.exitCode ?? program.signalCode) !== null) throw new Error(`it has ended: ${printed}`);
  const answer = await fetch(url, { headers: { connection: 'close' } }).catch(() => undefined);
  return answer?.ok ? answer.text() : undefined;
}

/** Asks until the last `times` answers were these and no others. */
async function untilAnswers(url: string, ...wanted: readonly string[]): Promise<void> {
  await until(`${url} answers ${wanted.join(' and ')}`, async () => {
    const answers = new Set<string | undefined>();
    for (let i = 0; i < 6; i++) answers.add(await read(url));
    return answers.size === wanted.length && wanted.every((each) => answers.has(each));
  }).catch((error: unknown) => Promise.reject(new Error(printed, { cause: error })));
}

describeWith(
  'HAProxy',
  works('haproxy', '-v'),
  DEBIAN,
)('HAProxy', () => {
  it('follows the SRV records of ready instances, with their real ports', async () => {
    const port = await freePort();
    const text = fromGuide('haproxy', { ':5653': `:${dnsPort}`, '127.0.0.1:6379': `127.0.0.1:${port}` });
    const times = 'defaults\n    timeout connect 1s\n    timeout client 5s\n    timeout server 5s\n\n';
    start('haproxy', '-db', '-f', file('haproxy.cfg', times + text));
    await untilAnswers(`http://127.0.0.1:${port}/`, ...HOSTS);
    await zone.put('/meshes/default/dataplanes/web-1', dataplane(1, 'NotReady'));
    await untilAnswers(`http://127.0.0.1:${port}/`, HOSTS[1]);
    await zone.put('/meshes/default/dataplanes/web-1', dataplane(1));
    await untilAnswers(`http://127.0.0.1:${port}/`, ...HOSTS);
  });
});

describeWith(
  'nginx',
  works('nginx', '-v'),
  DEBIAN,
)('nginx', () => {
  it('reaches the instances by their addresses', async () => {
    const port = await freePort();
    const text = fromGuide('nginx', {
      ':5653': `:${dnsPort}`,
      'valid=5s': 'valid=1s',
      ':8080': `:${port}`,
      ':8000': `:${webPort}`,
    });
    const temp = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((each) => `${each}_temp_path ${folder};`);
    const http = `pid ${folder}/nginx.pid;\nevents {}\nhttp {\naccess_log off;\n${temp.join('\n')}\n${text}}\n`;
    start('nginx', '-e', 'stderr', '-g', 'daemon off; master_process off;', '-c', file('nginx.conf', http));
    await untilAnswers(`http://127.0.0.1:${port}/`, ...HOSTS);
    await zone.put('/meshes/default/dataplanes/web-2', dataplane(2, 'NotReady'));
    await untilAnswers(`http://127.0.0.1:${port}/`, HOSTS[0]);
    await zone.put('/meshes/default/dataplanes/web-2', dataplane(2));
  });
});

interface Scraped {
  readonly data: { readonly activeTargets: readonly { readonly health: string; readonly labels: object }[] };
}

describeWith(
  'Prometheus',
  works('prometheus', '--version'),
  DEBIAN,
)('Prometheus', () => {
  it('scrapes what the zone lists, and what it lists later', async () => {
    const port = await freePort();
    const token = file('causeway.token', ADMIN_TOKEN);
    const text = fromGuide('yaml', {
      'http://127.0.0.1:6681': zone.restUrl,
      '15s': '1s',
      '/etc/prometheus/causeway.token': token,
    });
    const config = file('prometheus.yml', `global:\n  scrape_interval: 1s\n  scrape_timeout: 1s\n${text}`);
    await zone.put('/meshes/default/dataplanes/web-2', dataplane(2, 'NotReady'));
    start(
      'prometheus',
      `--config.file=${config}`,
      `--storage.tsdb.path=${join(folder, 'tsdb')}`,
      `--web.listen-address=127.0.0.1:${port}`,
      '--log.level=error',
    );
    const up = async (): Promise<readonly object[]> => {
      const body = await read(`http://127.0.0.1:${port}/api/v1/targets?state=active`);
      const { data } = JSON.parse(body ?? '{"data":{"activeTargets":[]}}') as Scraped;
      return data.activeTargets.filter(({ health }) => health === 'up').map(({ labels }) => labels);
    };
    const own = { mesh: 'default', namespace: 'default', service: 'web', port: 'metrics', zone: 'east', job: 'mesh' };
    const targets = (count: number): Promise<readonly object[]> =>
      until(`${count} targets`, async () => {
        const found = await up();
        return found.length === count && found;
      }).catch((error: unknown) => Promise.reject(new Error(printed, { cause: error })));
    expect(await targets(1)).toEqual([{ ...own, instance: 'web-1' }]);
    await zone.put('/meshes/default/dataplanes/web-2', dataplane(2));
    expect(await targets(2)).toEqual(expect.arrayContaining([{ ...own, instance: 'web-2' }]));
  });
});
