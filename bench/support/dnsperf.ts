import { spawnSync } from 'node:child_process';

/** Load that dnsperf generates (Debian: dnsperf). */
export interface DnsperfLoad {
  readonly port: number;
  /** A file of lines `name type`. */
  readonly queries: string;
  readonly seconds: string;
  readonly options: readonly string[];
}

/** Returns the command, pinned to one core if the system can do that. */
export function pinned(core: string, command: readonly string[]): string[] {
  return spawnSync('taskset', ['-V']).status === 0 ? ['taskset', '-c', core, ...command] : [...command];
}

/** Runs dnsperf on the second core, as fast as answers come unless the options limit it; returns its output. */
export function dnsperf({ port, queries, seconds, options }: DnsperfLoad): string {
  const load = ['-s', '127.0.0.1', '-p', String(port), '-d', queries, '-l', seconds, '-c', '4', '-q', '200'];
  const [program = '', ...rest] = pinned('1', ['dnsperf', ...load, ...options]);
  const run = spawnSync(program, rest, { encoding: 'utf8', maxBuffer: 2 ** 30 });
  if (run.error) throw run.error;
  return run.stdout;
}

/** A number of dnsperf's summary. */
export function figure(output: string, label: string): number {
  return Number(new RegExp(`${label}:\\s+([\\d.]+)`).exec(output)?.[1] ?? NaN);
}

/** The latencies in ms that dnsperf reports query by query (`-v`). */
export function latencies(output: string): number[] {
  return [...output.matchAll(/^> \S+ \S+ \S+ ([\d.]+)$/gm)].map((match) => Number(match[1]) * 1_000);
}
