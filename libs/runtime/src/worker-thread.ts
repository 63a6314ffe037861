import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';

/** Options of a worker thread. */
export interface WorkerThreadOptions {
  /** A copy of it is `workerData` in the thread; buffers that are shared stay shared. */
  readonly data?: unknown;
  /** Largest heap of the thread in MiB; beyond it the thread ends with an error, not the process. */
  readonly heapMiB?: number;
}

/** A running thread. */
export type WorkerThread = Worker;

/**
 * Starts a thread that runs a module of this repository: `entry` is its absolute path without the ending, which is that of this
 * file. The flags of Node by which this process loads modules (`--require`) are those of the thread. Whoever starts it ends it.
 */
export function startWorkerThread(entry: string, { data, heapMiB }: WorkerThreadOptions = {}): WorkerThread {
  return new Worker(entry + extname(__filename), {
    workerData: data,
    ...(heapMiB === undefined ? {} : { resourceLimits: { maxOldGenerationSizeMb: heapMiB } }),
  });
}
