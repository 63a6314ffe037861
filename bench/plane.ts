import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { echo, say } from '../test/support/mesh-processes';
import { TrafficPlane, type ProxyKind } from '../test/support/traffic-plane';
import { sketch } from '../test/support/traffic-zone';
import { until } from '../test/support/until';
import { numberSetting, report } from './support/report';
import { summary } from './support/summary';

/**
 * Throughput and latency of the builtin plane beside Envoy's, in one run: client → proxy ══mTLS══► proxy → process, each proxy one
 * process, and the builtin plane with BENCH_PROCESSES more. Rounds take turns. Prints one JSON line for each kind: calls a second of
 * BENCH_CONNECTIONS (20) that call one after the other, MB/s of one direction, new connections a second, latency in ms of calls at a
 * fixed rate on connections that have been used before, and the CPU time of both proxies by call, by MB and by connection (which other
 * work of the machine changes little).
 *
 * Needs CAUSEWAY_ENVOY. BENCH_SECONDS (3) of each part, BENCH_ROUNDS (3), BENCH_RATE (500) calls a second, BENCH_PROCESSES (0: none),
 * BENCH_PARTS (calls,bytes,connections,rate), BENCH_PLANES (envoy,builtin). BENCH_NODE_OPTIONS are options of Node for the builtin
 * plane's processes, as `--cpu-prof --cpu-prof-dir=profiles`.
 */
const SECONDS = numberSetting('BENCH_SECONDS', 3);
const ROUNDS = numberSetting('BENCH_ROUNDS', 3);
const CONNECTIONS = numberSetting('BENCH_CONNECTIONS', 20);
const RATE = numberSetting('BENCH_RATE', 500);
const PROCESSES = numberSetting('BENCH_PROCESSES', 0);
const PARTS = (process.env['BENCH_PARTS'] ?? 'calls,bytes,connections,rate').split(',');
const PLANES = (process.env['BENCH_PLANES'] ?? 'envoy,builtin').split(',');
const NODE_OPTIONS = (process.env['BENCH_NODE_OPTIONS'] ?? '').split(' ').filter((option) => option !== '');
const PORT = 6379;
const BLOCK = '127.231.7';
const PIECE = Buffer.alloc(64 * 1024, 'x');

/** A proxy to compare. */
interface Candidate {
  readonly name: string;
  readonly kind: ProxyKind;
  /** 1: the process of the program itself. */
  readonly processes: number;
}

interface Subject {
  readonly name: string;
  readonly at: { readonly host: string; readonly port: number };
  readonly sink: { readonly host: string; readonly port: number };
  readonly pids: readonly number[];
}

/** CPU time that processes have used, ms (Linux). */
function cpuMs(pids: readonly number[]): number {
  const used = pids.map((pid) => {
    const fields = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1]?.split(' ') ?? [];
    return (Number(fields[11]) + Number(fields[12])) * 10;
  });
  return used.reduce((sum, each) => sum + each, 0);
}

/** Starts a server and a client of one kind; what its client's address is, and the processes of both. */
async function subject(zone: TrafficPlane, { name, kind, processes }: Candidate, n: number, ports: readonly number[]) {
  const apps = ['echo', 'sink'].map((app) => `${app}-${name}`);
  const vip = (i: number): string => `${BLOCK}.${10 * n + i + 1}`;
  const identities = [{ type: 'SpiffeID', value: zone.spiffeId(`server-${name}`) }];
  const services = apps.map((app, i) =>
    sketch(
      'MeshService',
      app,
      { selector: { dataplaneTags: { app } }, ports: [{ port: PORT, targetPort: PORT + i }], identities },
      { status: { vip: { ip: vip(i) } } },
    ),
  );
  zone.state.put(...services);
  const inbound = apps.map((app, i) => ({ port: PORT + i, servicePort: ports[i] ?? 0, tags: { app } }));
  const { id } = zone.dataplane(`server-${name}`, { address: `${BLOCK}.${100 + n}`, inbound });
  const listed = new Set(apps.map((app) => `kri_msvc_default_west__${app}_${PORT}`));
  const server = { mesh: 'default', listed: new Set<string>(), dataplane: id };
  const client = { mesh: 'default', listed, capture: { type: 'bind' as const } };
  const start = (node: string, view: View): Promise<readonly number[]> =>
    kind === 'envoy' ? startEnvoy(zone, node, view) : startBuiltin(zone, { node, view, processes });
  const pids = [...(await start(`server-${name}`, server)), ...(await start(`client-${name}`, client))];
  await until(`${name} answers`, async () => (await say(vip(0), PORT)) === 'echo:hello');
  return { name, at: { host: vip(0), port: PORT }, sink: { host: vip(1), port: PORT }, pids };
}

type View = Parameters<TrafficPlane['envoy']>[1];

async function startEnvoy(zone: TrafficPlane, node: string, view: View): Promise<readonly number[]> {
  return [(await zone.envoy(node, view, node)).pid];
}

async function startBuiltin(
  zone: TrafficPlane,
  { node, view, processes }: { readonly node: string; readonly view: View; readonly processes: number },
): Promise<readonly number[]> {
  await zone.admitAs(node, view, node);
  const program = join(__dirname, 'support', 'builtin-program.ts');
  const args = [node, `${zone.port}`, `${processes}`];
  const child = fork(program, args, { execArgv: ['--require', join(__dirname, 'register.cjs'), ...NODE_OPTIONS] });
  children.push(child);
  return new Promise((resolve) =>
    child.once('message', (ready: { readonly pids: readonly number[] }) => resolve(ready.pids)),
  );
}
const children: ReturnType<typeof fork>[] = [];

const seconds = (): Promise<void> => new Promise((done) => setTimeout(done, SECONDS * 1_000));

async function open(at: { readonly host: string; readonly port: number }): Promise<Socket> {
  const socket = connect({ ...at, noDelay: true });
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  return socket;
}

/** Connections of which each has been answered once: all handshakes are done. */
async function openUsed(at: { readonly host: string; readonly port: number }): Promise<readonly Socket[]> {
  const sockets = await Promise.all(Array.from({ length: CONNECTIONS }, () => open(at)));
  await Promise.all(
    sockets.map(async (socket) => {
      socket.write('0123456789');
      await once(socket, 'data');
    }),
  );
  return sockets;
}

/** Calls one after the other on each connection; how many were answered. */
async function callOn({ at }: Subject): Promise<number> {
  const sockets = await openUsed(at);
  let calls = 0;
  for (const socket of sockets) {
    socket.on('data', () => {
      calls += 1;
      socket.write('0123456789');
    });
    socket.write('0123456789');
  }
  await seconds();
  for (const socket of sockets) socket.destroy();
  return calls;
}

/** Latencies of calls at a fixed rate on lasting connections, ms. */
async function callAtRate({ at }: Subject): Promise<readonly number[]> {
  const sockets = await openUsed(at);
  const latencies: number[] = [];
  const waiting = new Map<number, number>();
  for (const [n, socket] of sockets.entries())
    socket.on('data', () => {
      latencies.push(performance.now() - (waiting.get(n) ?? NaN));
      waiting.delete(n);
    });
  const began = performance.now();
  for (let n = 0; n < RATE * SECONDS; n++) {
    const due = began + (n * 1_000) / RATE;
    while (performance.now() < due) await new Promise((done) => setTimeout(done, 1));
    const socket = sockets[n % CONNECTIONS];
    // A connection that still waits for its answer is late: its next call is not sent, and counts from when it was due.
    if (waiting.has(n % CONNECTIONS)) continue;
    waiting.set(n % CONNECTIONS, due);
    socket?.write('0123456789');
  }
  await new Promise((done) => setTimeout(done, 200));
  for (const socket of sockets) socket.destroy();
  return latencies;
}

/** MB that one connection passes on. */
async function push({ sink }: Subject, received: () => number): Promise<number> {
  const socket = await open(sink);
  const before = received();
  const more = (): void => {
    while (!socket.destroyed && socket.write(PIECE));
  };
  socket.on('drain', more);
  more();
  await seconds();
  socket.destroy();
  return (received() - before) / 1e6;
}

/** New connections with one call each. */
async function connectAnew({ at }: Subject): Promise<number> {
  const until = performance.now() + SECONDS * 1_000;
  let made = 0;
  const one = async (): Promise<void> => {
    while (performance.now() < until) if ((await say(at.host, at.port)) !== '') made += 1;
  };
  await Promise.all(Array.from({ length: 8 }, one));
  return made;
}

/** Measurements of one subject so far. */
class Result {
  /** Calls, MB and new connections, with the CPU time that each took, ms. */
  readonly counts = { calls: 0, bytes: 0, connections: 0 };
  readonly cpu = { calls: 0, bytes: 0, connections: 0 };
  readonly latencies: number[] = [];

  async measure(one: Subject, received: () => number): Promise<void> {
    const count = { calls: callOn, bytes: (to: Subject) => push(to, received), connections: connectAnew };
    for (const part of ['calls', 'bytes', 'connections'] as const) {
      if (!PARTS.includes(part)) continue;
      const before = cpuMs(one.pids);
      this.counts[part] += await count[part](one);
      this.cpu[part] += cpuMs(one.pids) - before;
    }
    if (PARTS.includes('rate')) this.latencies.push(...(await callAtRate(one)));
  }
}

function reportOf(name: string, { counts, cpu, latencies }: Result): void {
  const time = SECONDS * ROUNDS;
  const { p50_ms, p99_ms } = summary(latencies);
  report('plane', {
    plane: name,
    calls_per_s: Math.round(counts.calls / time),
    p50_ms,
    p99_ms,
    mb_per_s: Math.round(counts.bytes / time),
    connections_per_s: Math.round(counts.connections / time),
    cpu_us_per_call: Math.round((1_000 * cpu.calls) / counts.calls),
    cpu_ms_per_mb: Math.round((100 * cpu.bytes) / counts.bytes) / 100,
    cpu_ms_per_connection: Math.round((100 * cpu.connections) / counts.connections) / 100,
  });
}

async function main(): Promise<void> {
  const zone = await TrafficPlane.start('west');
  let bytes = 0;
  const sink = createServer((socket) =>
    socket.on('data', (piece) => (bytes += piece.length)).on('error', () => undefined),
  );
  sink.listen(0, '127.0.0.1');
  await once(sink, 'listening');
  const address = sink.address();
  const app = await echo('echo');
  const ports = [app.port, typeof address === 'object' ? (address?.port ?? 0) : 0];
  zone.state.put(zone.trust());
  const candidates: readonly Candidate[] = [
    { name: 'envoy', kind: 'envoy', processes: 1 },
    { name: 'builtin', kind: 'builtin', processes: 1 },
    ...(PROCESSES > 1 ? [{ name: `builtin-${PROCESSES}`, kind: 'builtin' as const, processes: PROCESSES }] : []),
  ];
  const subjects: Subject[] = [];
  for (const [n, candidate] of candidates.filter(({ kind }) => PLANES.includes(kind)).entries())
    subjects.push(await subject(zone, candidate, n, ports));
  const results = new Map(subjects.map(({ name }) => [name, new Result()]));
  // The first round is for the compiler of Node only.
  for (let round = 0; round <= ROUNDS; round++)
    for (const one of subjects) {
      const result = round === 0 ? new Result() : results.get(one.name);
      await result?.measure(one, () => bytes);
    }
  for (const [name, result] of results) reportOf(name, result);
  // Without its channel a child ends by itself, and leaves its profile.
  await Promise.all(
    children.map((child) => {
      child.disconnect();
      return once(child, 'exit');
    }),
  );
  await zone.stop();
  await app.stop();
  sink.close();
  process.exit(0);
}

void main();
