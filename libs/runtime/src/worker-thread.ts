import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';

/** Options of a worker thread. */
export interface WorkerThreadOptions {
  /** Copied to `workerData` of the thread; shared buffers stay shared. */
  readonly data?: unknown;
  /** Maximum heap of the thread, MiB; above it the thread ends with an error, not the process. */
  readonly heapMiB?: number;
}

/** A running thread. */
export type WorkerThread = Worker;

/**
 * Starts a thread that runs a module of this repository: `entry` is its absolute path without the extension, which is that of
 * this file. The thread gets this process's flags of Node for loading modules (`--require`). The caller must end the thread.
 */
export function startWorkerThread(entry: string, { data, heapMiB }: WorkerThreadOptions = {}): WorkerThread {
  return new Worker(entry + extname(__filename), {
    workerData: data,
    ...(heapMiB === undefined ? {} : { resourceLimits: { maxOldGenerationSizeMb: heapMiB } }),
  });
}
