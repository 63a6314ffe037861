import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hostnameOf } from './support/dns-zone';
import { dnsperf, figure, latencies } from './support/dnsperf';
import { ServerProcess, type Told } from './support/server-process';
import { summary } from './support/summary';

/**
 * Answers a second of a zone's DNS server that has one core, asked by dnsperf (Debian: dnsperf) on the other one, and
 * latency at half of the target (docs/design.md §8: ≥ 100,000 / s). One JSON line for each number of hostnames and way of
 * asking. Over UDP a program that only sends every datagram back is asked the same right after: `echo_per_cpu_second`
 * is the most that any server in Node could give on this machine just then. BENCH_HOSTNAMES (10000,100000),
 * BENCH_SECONDS (8).
 */
const COUNTS = (process.env['BENCH_HOSTNAMES'] ?? '10000,100000').split(',').map(Number);
const SECONDS = process.env['BENCH_SECONDS'] ?? '8';
const HALF = 50_000;

interface Load {
  readonly name: string;
  readonly tcp?: boolean;
  readonly queries: (hostnames: number) => string[];
  readonly options?: readonly string[];
}

const LOADS: readonly Load[] = [
  { name: 'hot', queries: () => Array.from({ length: 100 }, (_, i) => `${hostnameOf(i)} A`) },
  { name: 'random', queries: (hostnames) => shuffled(hostnames).map((n) => `${hostnameOf(n)} A`) },
  { name: 'random, A and AAAA, EDNS', queries: pairs, options: ['-e'] },
  { name: 'unknown names', queries: () => Array.from({ length: 100_000 }, (_, i) => `no-${i}.svc.east.mesh.local A`) },
  {
    name: 'random, TCP',
    queries: (hostnames) => shuffled(hostnames).map((n) => `${hostnameOf(n)} A`),
    options: ['-m', 'tcp'],
    tcp: true,
  },
];

function pairs(hostnames: number): string[] {
  return shuffled(hostnames).flatMap((n) => [`${hostnameOf(n)} A`, `${hostnameOf(n)} AAAA`]);
}

/** Every number below `count` once, in an order that no cache likes, the same every time. */
function shuffled(count: number): number[] {
  const numbers = Array.from({ length: count }, (_, i) => i);
  let seed = 42;
  for (let i = count - 1; i > 0; i--) {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
    const j = seed % (i + 1);
    [numbers[i], numbers[j]] = [numbers[j] ?? 0, numbers[i] ?? 0];
  }
  return numbers;
}

interface Rate {
  readonly answers_per_second: number;
  /** Estimate for one whole core: on a busy machine the server gets less than that. */
  readonly answers_per_cpu_second: number;
  readonly lost: number;
}

/** Asks one server as fast as it answers, once it is warm. */
async function rateOf(server: ServerProcess, queries: string, options: readonly string[]): Promise<Rate> {
  const load = { port: server.port, queries, options };
  dnsperf({ ...load, seconds: '2' }); // warm
  const before = await server.cpuSeconds();
  const output = dnsperf({ ...load, seconds: SECONDS });
  const spent = (await server.cpuSeconds()) - before;
  return {
    answers_per_second: Math.round(figure(output, 'Queries per second')),
    answers_per_cpu_second: Math.round(figure(output, 'Queries completed') / spent),
    lost: figure(output, 'Queries lost'),
  };
}

/** Compares the server's rate with that of a bare echo, asked the same a moment later. */
async function besideEcho(rate: Rate, queries: string, options: readonly string[]): Promise<Record<string, number>> {
  const echo = await ServerProcess.start('udp-echo.ts');
  const { answers_per_cpu_second: most } = await rateOf(echo, queries, options);
  echo.stop();
  return { echo_per_cpu_second: most, percent_of_echo: Math.round((rate.answers_per_cpu_second / most) * 100) };
}

async function measure(hostnames: number, folder: string): Promise<void> {
  const server = await ServerProcess.start('dns-server.ts', [String(hostnames)]);
  const queries = join(folder, 'queries');
  for (const { name, queries: lines, options = [], tcp = false } of LOADS) {
    writeFileSync(queries, lines(hostnames).join('\n') + '\n');
    const rate = await rateOf(server, queries, options);
    const echo = tcp ? {} : await besideEcho(rate, queries, options);
    const slower = [...options, '-Q', String(HALF), '-v'];
    const half = dnsperf({ port: server.port, queries, seconds: SECONDS, options: slower });
    const at_50000_per_second = {
      reached: Math.round(figure(half, 'Queries per second')),
      ...summary(latencies(half)),
    };
    console.log(JSON.stringify({ bench: 'dns', hostnames, asked: name, ...rate, ...echo, at_50000_per_second }));
  }
  console.log(JSON.stringify({ bench: 'dns-memory', hostnames, ...memoryOf(await server.tell()) }));
  server.stop();
}

function memoryOf({ load = 0, table = 0, change = 0, heap = 0, rss = 0 }: Told): Record<string, number> {
  const mb = (bytes: number): number => Math.round(bytes / 1e5) / 10;
  const ms = (time: number): number => Math.round(time * 1_000) / 1_000;
  return {
    table_mb: mb(table),
    heap_with_all_asked_mb: mb(heap),
    rss_mb: mb(rss),
    load_ms: ms(load),
    one_change_ms: ms(change),
  };
}

async function main(): Promise<void> {
  execFileSync('dnsperf', ['-h'], { stdio: 'ignore' });
  const folder = mkdtempSync(join(tmpdir(), 'causeway-dns-'));
  try {
    for (const hostnames of COUNTS) await measure(hostnames, folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

void main();
