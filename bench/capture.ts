import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DirectPlane, MachineNetwork, type NetworkPlan } from '@causeway/agent/testing';
import type { Resource } from '@causeway/resources';
import { silentLogger, systemClock } from '@causeway/runtime';
import type { EnvoyView } from '@causeway/xds-translation';
import { ENVOY } from '../test/support/envoy-process';
import { say } from '../test/support/mesh-processes';
import { NetworkNamespace } from '../test/support/network-namespace';
import { ToldPlane } from '../test/support/told-plane';
import { TrafficPlane } from '../test/support/traffic-plane';
import { sketch } from '../test/support/traffic-zone';
import { until } from '../test/support/until';
import { numberSetting, report } from './support/report';
import { summary } from './support/summary';

/**
 * Measures the cost of reaching BENCH_VIPS (10000) virtual IPs from a machine to another one, each a network namespace, in a mesh without mTLS:
 * by a direct connection (`none`), by the plane `direct`, and by `redirect` to one Envoy with one thread. One JSON line for each:
 *
 * - `rules_ms`: rules and routes of the ranges; `setup_ms`: those, and until the last virtual IP answers, with the control plane in this
 *   process; `tried`: virtual IPs that were called then, evenly spread, and their first answers (`first_answer`);
 * - `change`: ms from a service that is put with other endpoints until a new connection reaches one, BENCH_CHANGES (50) services;
 * - `mb_per_s` of one connection, `connections_per_s` with one answer each from 8 clients, BENCH_SECONDS (3) each, BENCH_ROUNDS (3) in
 *   turns after one for the compiler of Node. Client and server are processes of Node on the same cores.
 *
 * Needs root, nft, iproute2; `redirect` needs CAUSEWAY_ENVOY. BENCH_KINDS (none,direct,redirect) leaves some out.
 */
const VIPS = numberSetting('BENCH_VIPS', 10_000);
const CHANGES = numberSetting('BENCH_CHANGES', 50);
const SECONDS = numberSetting('BENCH_SECONDS', 3);
const ROUNDS = numberSetting('BENCH_ROUNDS', 3);
const KINDS = (process.env['BENCH_KINDS'] ?? 'none,direct,redirect').split(',');
const TRIED = 100;
const CLIENTS = 8;
const INSIDE = '--inside';

const HERE = '10.7.1.1';
const SERVERS = ['10.7.1.2', '10.7.1.3'] as const;
const PORTS = { echo: 8080, sink: 8081 } as const;
const RANGES = ['241.0.0.0/8'];
const AT = { address: '127.0.0.1', port: 15_001 };
const REENTRY = { address: '127.0.0.1', port: 15_011 };
const PIECE = Buffer.alloc(64 * 1024, 'x');
const AGENT = '0b1c2d3e-0000-4000-8000-000000000001';

/** Answers at both addresses: the caller's address, or, at the port of the sink, the number of bytes received when the caller has ended. */
const SERVE = `
const net = require('node:net');
const [first, second, echo, sink] = process.argv.slice(1);
const ignore = (socket) => socket.on('error', () => {});
const echoOf = (host) => net.createServer((socket) => ignore(socket).on('data', () => socket.write(host))).listen(+echo, host);
echoOf(first); echoOf(second);
net.createServer({ allowHalfOpen: true }, (socket) => {
  let bytes = 0;
  ignore(socket).on('data', (data) => (bytes += data.length)).on('end', () => socket.end(String(bytes)));
}).listen(+sink, first, () => console.log('serving'));
`;

const vip = (n: number): string => `241.${(n >> 16) & 255}.${(n >> 8) & 255}.${n & 255}`;

/** The service number n, whose instances are on one of the servers; the first one is the sink. */
function service(n: number, server: 0 | 1 = 0): Resource {
  const [app, port] = n === 0 ? ['sink', PORTS.sink] : [`echo-${server}`, PORTS.echo];
  const spec = { selector: { dataplaneTags: { app } }, ports: [{ port: 80, targetPort: port, appProtocol: 'tcp' }] };
  return sketch('MeshService', `service-${n}`, spec, { status: { vip: { ip: vip(n + 1) } } });
}

/** A way to connect to a service. */
interface Way {
  /** Returns the address of service n. */
  readonly at: (n: number) => { readonly host: string; readonly port: number };
  readonly setup: Readonly<Record<string, unknown>>;
  end(): Promise<void>;
}

const toVip = (n: number) => ({ host: vip(n + 1), port: 80 });
const answerOf = ({ host, port }: ReturnType<Way['at']>): Promise<string> => say(host, port);

/** Brings the rules, then what `start` starts, and calls some of the services. */
async function prepare(
  plan: NetworkPlan,
  folder: string,
  start: (network: MachineNetwork) => Promise<() => Promise<void>>,
) {
  const network = new MachineNetwork({ folder, instance: AGENT });
  const began = performance.now();
  await network.apply(plan);
  const rules_ms = Math.round(performance.now() - began);
  const stop = await start(network);
  await until('the last virtual IP answers', async () => (await answerOf(toVip(VIPS - 1))) === SERVERS[0], 300_000);
  const setup_ms = Math.round(performance.now() - began);
  const times: number[] = [];
  for (let i = 0; i < TRIED; i++) {
    const sent = performance.now();
    const n = 1 + Math.floor((i * (VIPS - 2)) / TRIED);
    await until(`service ${n} answers`, async () => (await answerOf(toVip(n))) === SERVERS[0], 60_000);
    times.push(performance.now() - sent);
  }
  return {
    at: toVip,
    setup: { rules_ms, setup_ms, tried: TRIED, first_answer: summary(times) },
    end: async () => {
      await stop();
      await network.remove();
    },
  };
}

async function wayOf(kind: string, zone: TrafficPlane, folder: string): Promise<Way> {
  if (kind === 'none')
    return {
      at: (n) => ({ host: SERVERS[0], port: n === 0 ? PORTS.sink : PORTS.echo }),
      setup: {},
      end: () => Promise.resolve(),
    };
  const view: EnvoyView = { mesh: 'default', listed: 'declared' };
  if (kind === 'direct')
    return prepare({ capture: { type: 'translate', ranges: RANGES, sources: [HERE] } }, folder, async (network) => {
      await zone.admitAs('direct', { ...view, capture: { type: 'translate' } }, undefined);
      const told = await ToldPlane.start({ id: 'direct', xdsPort: zone.port }, (cache) => {
        const tools = { network, instance: AGENT, clock: systemClock, logger: silentLogger };
        return new DirectPlane(cache, { ...tools, capturesVirtualIps: true, trustedNetworks: ['10.7.0.0/16'] });
      });
      return () => told.stop();
    });
  return prepare({ capture: { type: 'redirect', ranges: RANGES, port: AT.port } }, folder, async () => {
    const envoy = await zone.envoy('envoy', { ...view, capture: { type: 'redirect', at: AT, reentry: REENTRY } });
    return () => envoy.stop();
  });
}

/** ms until new connections to a service reach the other server, for some services. */
async function change(zone: TrafficPlane, { at }: Way): Promise<readonly number[]> {
  const times: number[] = [];
  for (let i = 0; i < CHANGES; i++) {
    const n = 1 + Math.floor((i * (VIPS - 2)) / CHANGES);
    // The first connection of a proxy that asks on demand is no change.
    await answerOf(at(n));
    const began = performance.now();
    zone.state.put(service(n, 1));
    while ((await answerOf(at(n))) !== SERVERS[1]) if (performance.now() - began > 30_000) throw new Error('no change');
    times.push(performance.now() - began);
    zone.state.put(service(n));
  }
  return times;
}

/** Bytes that one connection carries, by the server's count. */
async function push({ at }: Way): Promise<number> {
  const socket = connect({ ...at(0), allowHalfOpen: true });
  await once(socket, 'connect');
  const until = performance.now() + SECONDS * 1_000;
  const more = (): void => {
    while (performance.now() < until) if (!socket.write(PIECE)) return;
    socket.end();
  };
  socket.on('drain', more);
  more();
  const bytes = await new Promise<number>((resolve) =>
    socket.once('data', (count) => resolve(Number(count.toString()))),
  );
  socket.destroy();
  return bytes;
}

async function connectAnew({ at }: Way): Promise<number> {
  const until = performance.now() + SECONDS * 1_000;
  let made = 0;
  const one = async (client: number): Promise<void> => {
    for (let i = 0; performance.now() < until; i++)
      if ((await answerOf(at(1 + ((client * 1_000 + i) % Math.min(50, VIPS - 1))))) !== '') made += 1;
  };
  await Promise.all(Array.from({ length: CLIENTS }, (_, client) => one(client)));
  return made;
}

async function measure(): Promise<void> {
  // Connections that have ended leave their ports for two minutes.
  writeFileSync('/proc/sys/net/ipv4/ip_local_port_range', '1024 65535');
  writeFileSync('/proc/sys/net/ipv4/tcp_tw_reuse', '1');
  const peer = await NetworkNamespace.create();
  await peer.connectHere(`${HERE}/24`, `${SERVERS[0]}/24`);
  await peer.run('ip', ['addr', 'add', `${SERVERS[1]}/24`, 'dev', 'v0']);
  await peer.serve(SERVE, ...SERVERS, `${PORTS.echo}`, `${PORTS.sink}`);
  const zone = await TrafficPlane.start('west');
  const parametersRef = { group: 'causeway.io', kind: 'MeshParameters', name: 'p' };
  zone.state.put(
    sketch('Mesh', 'default', { parametersRef }),
    sketch('MeshParameters', 'p', { mtls: 'Off' }),
    ...Array.from({ length: VIPS }, (_, n) => service(n)),
  );
  const inbounds = [
    [SERVERS[0], PORTS.echo, 'echo-0'],
    [SERVERS[1], PORTS.echo, 'echo-1'],
    [SERVERS[0], PORTS.sink, 'sink'],
  ] as const;
  for (const [address, port, app] of inbounds)
    zone.dataplane(app, { address, inbound: [{ port, servicePort: port, tags: { app } }] });
  for (const kind of KINDS) {
    const folder = mkdtempSync(join(tmpdir(), 'causeway-capture-'));
    const way = await wayOf(kind, zone, folder);
    const changes = kind === 'none' ? [] : await change(zone, way);
    const sums = { bytes: 0, made: 0 };
    for (let round = 0; round <= ROUNDS; round++) {
      const [bytes, made] = [await push(way), await connectAnew(way)];
      if (round > 0) [sums.bytes, sums.made] = [sums.bytes + bytes, sums.made + made];
    }
    report('capture', {
      kind,
      ...(kind !== 'none' && { vips: VIPS }),
      ...way.setup,
      ...(changes.length > 0 && { change: summary(changes) }),
      mb_per_s: Math.round(sums.bytes / 1e6 / (SECONDS * ROUNDS)),
      connections_per_s: Math.round(sums.made / (SECONDS * ROUNDS)),
      ...(zone.problems().length > 0 && { problems: zone.problems() }),
    });
    await way.end();
    rmSync(folder, { recursive: true, force: true });
  }
  await zone.stop();
  await peer.close();
}

/** Runs this program again in a namespace. */
function runInside(): void {
  if (KINDS.includes('redirect') && ENVOY === undefined)
    throw new Error('CAUSEWAY_ENVOY: is not set; `sh test/envoy/install.sh` prints it');
  const node = [process.execPath, '-r', join(__dirname, 'register.cjs'), __filename, INSIDE];
  const { status } = spawnSync('unshare', ['-n', 'sh', '-c', 'ip link set lo up && exec "$@"', 'sh', ...node], {
    stdio: 'inherit',
  });
  process.exitCode = status ?? 1;
}

if (process.argv.includes(INSIDE))
  measure().then(
    () => process.exit(0),
    (error: unknown) => {
      console.error(error);
      process.exit(1);
    },
  );
else runInside();
