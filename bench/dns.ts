import { execFileSync, fork, spawnSync, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hostnameOf } from './support/dns-zone';
import { summary } from './support/summary';

/**
 * Answers a second of a zone's DNS server that has one core, asked by dnsperf (Debian: dnsperf) on the other one, and
 * latency at half of the target (design.md §8: ≥ 100,000 / s). One JSON line for each number of hostnames and way of
 * asking. BENCH_HOSTNAMES (10000,100000), BENCH_SECONDS (8).
 */
const COUNTS = (process.env['BENCH_HOSTNAMES'] ?? '10000,100000').split(',').map(Number);
const SECONDS = process.env['BENCH_SECONDS'] ?? '8';
const HALF = 50_000;

interface Load {
  readonly name: string;
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

/** The next message of the server process. */
function nextMessage(child: ChildProcess): Promise<Record<string, number>> {
  return new Promise((resolve, reject) => {
    const ended = (): void => reject(new Error('the server ended'));
    child.once('exit', ended);
    child.once('message', (message: Record<string, number>) => {
      child.off('exit', ended);
      resolve(message);
    });
  });
}

function tell(child: ChildProcess): Promise<Record<string, number>> {
  const told = nextMessage(child);
  child.send('tell');
  return told;
}

function cpuSeconds({ user = 0, system = 0 }: Record<string, number>): number {
  return (user + system) / 1e6;
}

function pinned(core: string, command: readonly string[]): string[] {
  return spawnSync('taskset', ['-V']).status === 0 ? ['taskset', '-c', core, ...command] : [...command];
}

function ask(port: number, file: string, options: readonly string[]): string {
  const [program = '', ...rest] = pinned('1', [
    'dnsperf',
    '-s',
    '127.0.0.1',
    '-p',
    String(port),
    '-d',
    file,
    ...options,
  ]);
  const run = spawnSync(program, rest, { encoding: 'utf8', maxBuffer: 2 ** 30 });
  if (run.error) throw run.error;
  return run.stdout;
}

function figure(output: string, label: string): number {
  return Number(new RegExp(`${label}:\\s+([\\d.]+)`).exec(output)?.[1] ?? NaN);
}

/** The latencies in ms that dnsperf reports query by query. */
function latencies(output: string): number[] {
  return [...output.matchAll(/^> \S+ \S+ \S+ ([\d.]+)$/gm)].map((match) => Number(match[1]) * 1_000);
}

async function measure(hostnames: number, folder: string): Promise<void> {
  const [execPath = '', ...before] = pinned('0', [process.execPath]);
  const execArgv = [...before, '--expose-gc', '-r', join(__dirname, 'register.cjs')];
  const child = fork(join(__dirname, 'support', 'dns-server.ts'), [String(hostnames)], { execPath, execArgv });
  const { port = 0 } = await nextMessage(child);
  for (const load of LOADS) {
    const file = join(folder, 'queries');
    writeFileSync(file, load.queries(hostnames).join('\n') + '\n');
    const options = load.options ?? [];
    ask(port, file, [...options, '-l', '2', '-c', '4', '-q', '200']); // warm
    const before = await tell(child);
    const full = ask(port, file, [...options, '-l', SECONDS, '-c', '4', '-q', '200']);
    const spent = cpuSeconds(await tell(child)) - cpuSeconds(before);
    const half = ask(port, file, [...options, '-l', SECONDS, '-c', '4', '-q', '200', '-Q', String(HALF), '-v']);
    console.log(
      JSON.stringify({
        bench: 'dns',
        hostnames,
        asked: load.name,
        answers_per_second: Math.round(figure(full, 'Queries per second')),
        // What one whole core would do: on a busy machine the server gets less than that.
        answers_per_cpu_second: Math.round(figure(full, 'Queries completed') / spent),
        lost: figure(full, 'Queries lost'),
        at_50000_per_second: { reached: Math.round(figure(half, 'Queries per second')), ...summary(latencies(half)) },
      }),
    );
  }
  const { load = 0, table = 0, change = 0, heap = 0, rss = 0 } = await tell(child);
  const mb = (bytes: number): number => Math.round(bytes / 1e5) / 10;
  const ms = (time: number): number => Math.round(time * 1_000) / 1_000;
  console.log(
    JSON.stringify({
      bench: 'dns-memory',
      hostnames,
      table_mb: mb(table),
      heap_with_all_asked_mb: mb(heap),
      rss_mb: mb(rss),
      load_ms: ms(load),
      one_change_ms: ms(change),
    }),
  );
  child.disconnect();
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
