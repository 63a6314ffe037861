import { performance } from 'node:perf_hooks';

/** Runs the work so often, ms of CPU of the least one. What the work throws is its answer. */
export async function leastCpu(work: () => unknown, runs: number): Promise<number> {
  let least = Infinity;
  for (let run = 0; run < runs; run++) {
    if (runs > 1) globalThis.gc?.();
    least = Math.min(least, await cpuOf(work));
  }
  return least;
}

/**
 * How long one run keeps the event loop, ms: what the loop was active and what CPU the process used are both at least
 * that; other programs of the machine raise the first, the threads of the garbage collector the second.
 */
async function cpuOf(work: () => unknown): Promise<number> {
  const loop = performance.eventLoopUtilization();
  const cpu = process.cpuUsage();
  try {
    const result = work();
    if (result instanceof Promise) await result;
  } catch {
    // A refusal is an answer; the tests of the entry point say which.
  }
  const { user, system } = process.cpuUsage(cpu);
  return Math.min((user + system) / 1_000, performance.eventLoopUtilization(loop).active);
}
