/*
 * Requirements of this file, and their other tests:
 * * `npm start` on Node alone: the printed `curl` in west reaches the process in east through two agents and two
 *   ingresses; what passes between the zones has no plaintext of it.
 * * The quickstart: processes that are killed are shown as down and started again, and the rest works;
 *   `--no-traffic`. Also: test/e2e/quickstart.e2e-spec.ts.
 */
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { formatJoinBundle, readJoinBundle } from '@causeway/identity';
import { hasRedisServer } from '../../scripts/lib/redis.mjs';
import { canCapture, PacketCapture } from '../support/packet-capture';
import { RecordedWay } from '../support/secret-search';
import { adminFetch } from '../support/admin-credential';
import { until } from '../support/until';
import { NETWORK, QuickstartRun, statesOf } from './quickstart-run';

const ANSWER = 'catalog-1 in east answers GET / for catalog.svc.east.mesh.local:8080';
const BACK = 'shop-1 in west answers GET / for shop.svc.west.mesh.local:8080';

const capturing = canCapture ? it : it.skip;
if (!canCapture) process.stderr.write('left out: a capture of packets; to run it: tcpdump, as root\n');

interface Claims {
  readonly exp: number;
}

interface Stored {
  readonly type: string;
  readonly name: string;
  readonly mesh?: string;
  readonly spec: Readonly<Record<string, unknown>> & {
    readonly networking?: Readonly<Record<string, unknown>> & { readonly address?: string; readonly port?: number };
  };
}

(process.platform === 'linux' ? describe : describe.skip)('the traffic of npm start', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'causeway-demo-'));
  let run: QuickstartRun;

  /** Returns the output of `causeway-agent status` for an agent of the demo. */
  const agentStatus = (name: string): string => {
    const program = resolve(__dirname, '..', '..', 'dist', 'apps', 'agent', 'src', 'main.js');
    const args = [program, 'status', '--state', join(dataDir, 'agents', name)];
    return spawnSync(process.execPath, args, { encoding: 'utf8' }).stdout;
  };

  /** Waits for a part, a trip or a process to be as wanted. */
  const becomes = (name: string, wanted: string | RegExp): Promise<unknown> =>
    until(`${name} is ${String(wanted)}`, async () => {
      const state = (await run.states()).get(name) ?? '';
      return typeof wanted === 'string' ? state === wanted : wanted.test(state);
    });

  beforeAll(async () => {
    chmodSync(dataDir, 0o755);
    run = new QuickstartRun([process.execPath, 'scripts/start.mjs'], {
      CAUSEWAY_DATA_DIR: dataDir,
      CAUSEWAY_ENVOY: '',
    });
    await run.untilRunning();
  });
  afterAll(async () => {
    run.signal('SIGTERM');
    await run.untilGone();
    rmSync(dataDir, { recursive: true, force: true });
  });

  it('prints how the agent in west answers a name of east, a curl to that address, its answer, and the same back', () => {
    const ip = '127\\.\\d+\\.\\d+\\.\\d+';
    const lines = (host: string): string =>
      `^ +dig \\+short @${ip} -p 5300 ${host}\n +(${ip})\n +curl --resolve ${host}:8080:\\1 http://${host}:8080/\n`;
    expect(run.output).toMatch(new RegExp(`${lines('catalog.svc.east.mesh.local')} +${ANSWER}$`, 'm'));
    expect(run.output).toMatch(new RegExp(`${lines('shop.svc.west.mesh.local')} +${BACK}$`, 'm'));
  });

  it('does it again by npm run demo:curl', async () => {
    expect(await run.demo('curl')).toEqual({ code: 0, text: `${ANSWER}\n` });
  });

  it('shows by npm run demo:status what runs and what works', async () => {
    const { code, text } = await run.demo('status');
    const states = statesOf(text);
    expect([code, states.get('west to east'), states.get('east to west')]).toEqual([0, ANSWER, BACK]);
    expect([...states.keys()]).toEqual([...(await run.states()).keys()]);
    for (const part of ['global', 'catalog-agent']) expect(states.get(part)).toMatch(/^up, pid \d+$/);
  });

  it('has no plaintext on the way between the zones', async () => {
    const east = run.restUrl('east');
    const urls = ['zoneingresses', 'meshes/default/meshzoneaddresses'].map((path) => `${east}/${path}/ingress-east`);
    const stored = await Promise.all(urls.map(async (url) => (await (await adminFetch(url)).json()) as Stored));
    const { address = '', port = 0 } = stored[0]?.spec.networking ?? {};
    const put = async (index: number, spec: Stored['spec']): Promise<void> => {
      const headers = { 'content-type': 'application/json' };
      const { type, name, mesh } = stored[index] as Stored;
      const body = JSON.stringify({ type, name, mesh, spec });
      expect((await adminFetch(urls[index] ?? '', { method: 'PUT', headers, body })).status).toBe(200);
    };
    const way = new RecordedWay(port, address);
    const recorded = await way.open();
    await put(0, { networking: { address, port, advertisedAddress: address, advertisedPort: recorded.port } });
    await put(1, { address, port: recorded.port });
    await until('it goes the recorded way', async () => {
      await run.demo('curl');
      return way.bytes.length > 1_000;
    });
    expect(await run.demo('curl')).toEqual({ code: 0, text: `${ANSWER}\n` });
    // The name of the service is in the hello of TLS; nothing of the request or its answer is anywhere.
    const text = way.bytes.toString('latin1');
    expect(text).toContain('catalog');
    for (const plain of ['GET /', 'HTTP/1.1', 'answers', ':8080', 'text/plain']) expect(text).not.toContain(plain);

    for (const index of [0, 1]) await put(index, (stored[index] as Stored).spec);
    await way.close();
    await becomes('west to east', ANSWER);
  });

  capturing('has no plaintext in the packets that leave an agent', async () => {
    // First the traffic to an ingress or to the agent beside a service; then that between programs and their own agent.
    const between = await PacketCapture.start(
      `tcp and (net ${NETWORK}.129.0/24 or (net ${NETWORK}.128.0/24 and port 8080))`,
    );
    const inside = await PacketCapture.start(`tcp and net ${NETWORK}.0.0/17`);
    expect(await run.demo('curl')).toEqual({ code: 0, text: `${ANSWER}\n` });
    await until('the request was captured', () => inside.text.includes(ANSWER));
    await until('its way was captured', () => between.text.includes('catalog'));
    await Promise.all([between.stop(), inside.stop()]);
    for (const plain of ['GET /', 'HTTP/1.1', 'answers', ':8080', 'text/plain'])
      expect([plain, between.text.includes(plain)]).toEqual([plain, false]);
  });

  it('has agents that joined over TLS by a bundle of an hour, and show their certificate from then on', async () => {
    const file = join(dataDir, 'agents', 'catalog-agent.bundle');
    const read = readJoinBundle(readFileSync(file, 'utf8'));
    if (!read.ok) throw new Error(read.violation.reason);
    const { zone, authority, token } = read.bundle;
    expect([zone, authority?.split('\n')[0]]).toEqual(['east', '-----BEGIN CERTIFICATE-----']);
    const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as Claims;
    expect(claims.exp * 1_000 - Date.now()).toBeLessThanOrEqual(3_600_000);
    // Another start of the agent has its certificate, and no token that holds.
    writeFileSync(file, formatJoinBundle({ ...read.bundle, token: 'ended' }));
    expect(await run.demo('restart', 'catalog-agent')).toEqual({ code: 0, text: 'catalog-agent is started\n' });
    await until('it is connected', () => / zone +connected to /.test(agentStatus('catalog-agent')));
    expect(agentStatus('catalog-agent')).toMatch(/certificate +spiffe:/);
    await becomes('west to east', ANSWER);
  });

  it('goes on without Postgres, Redis and two control planes, shows them as down, starts them again', async () => {
    const killed = ['postgres', ...(hasRedisServer() ? ['redis'] : []), 'global', 'west'];
    await run.kill(...killed);
    for (const part of killed)
      await until(`${part} is shown as down`, () => new RegExp(`^${part} is down \\(SIGKILL\\)`, 'm').test(run.output));
    expect(await run.demo('curl')).toEqual({ code: 0, text: `${ANSWER}\n` });
    expect((await run.states()).get('west')).toBe('down');
    for (const part of killed)
      expect(await run.demo('restart', part)).toEqual({ code: 0, text: `${part} is started\n` });
    expect((await adminFetch(`${run.restUrl('west')}/meshes`)).status).toBe(200);
    await until('all of them are up', async () => {
      const states = await run.states();
      return killed.every((part) => states.get(part)?.startsWith('up'));
    });
    await becomes('west to east', ANSWER);
    // Committed writes are there, and the control plane that outlived its database writes again.
    const east = run.restUrl('east');
    expect((await adminFetch(`${east}/meshes/default/dataplanes/redis-1`)).status).toBe(200);
    const spec = { networking: { address: '10.1.0.21', inbound: [{ port: 1, tags: { 'kuma.io/service': 'cache' } }] } };
    const body = JSON.stringify({ type: 'Dataplane', mesh: 'default', name: 'cache-1', spec });
    const headers = { 'content-type': 'application/json' };
    const url = `${east}/meshes/default/dataplanes/cache-1`;
    await until('east writes', async () => (await adminFetch(url, { method: 'PUT', headers, body })).ok);
    const seen = `${run.restUrl('west')}/meshes/default/meshservices/cache?zone=east`;
    await until('west sees it', async () => (await adminFetch(seen)).ok);
  });

  it('shows a service without its agent: the process works, nobody reaches it by the mesh', async () => {
    await run.kill('catalog-agent');
    await becomes('catalog-agent', 'down');
    await becomes('west to east', /^no answer/);
    await becomes('catalog without the mesh', /^catalog-1 in east answers/);
    expect((await run.demo('curl')).code).toBe(1);
    expect(await run.demo('restart', 'catalog-agent')).toEqual({ code: 0, text: 'catalog-agent is started\n' });
    await becomes('west to east', ANSWER);
  });

  it('knows no part of another name', async () => {
    expect((await run.demo('restart', 'nobody')).code).toBe(1);
  });
});
