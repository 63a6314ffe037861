import { extname, join } from 'node:path';
import { Worker } from 'node:worker_threads';

/** What a worker thread is given at its start. */
export interface WorkerThreadOptions {
  /** A copy of it is `workerData` in the thread; buffers that are shared stay shared. */
  readonly data?: unknown;
  /** Largest heap of the thread in MiB; beyond it the thread ends with an error, not the process. */
  readonly heapMiB?: number;
}

/** A running thread. */
export type WorkerThread = Worker;

const SOURCE = '.ts';

/**
 * Starts a thread that runs a module of this repository: `entry` is its absolute path without the ending. The same call
 * works from compiled files and, in tests and benchmarks, from the TypeScript sources. Whoever starts it ends it.
 */
export function startWorkerThread(entry: string, { data, heapMiB }: WorkerThreadOptions = {}): WorkerThread {
  const ending = extname(__filename);
  return new Worker(entry + ending, {
    workerData: data,
    ...(heapMiB === undefined ? {} : { resourceLimits: { maxOldGenerationSizeMb: heapMiB } }),
    // Node runs no TypeScript by itself; programs that start from sources are given the same hook.
    ...(ending === SOURCE
      ? { execArgv: ['--require', join(__dirname, '..', '..', '..', 'bench', 'register.cjs')] }
      : {}),
  });
}
