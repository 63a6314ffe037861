import { once } from 'node:events';
import { join } from 'node:path';
import { Unavailable } from '@causeway/resources';
import { startWorkerThread, type Clock, type Timer, type WorkerThread } from '@causeway/runtime';
import { HttpError } from './http-error';
import { isParseResult, type BodyParseResult, type ParseRequest } from './body-decode';

/** Limits of the worker threads; durations in ms, sizes in bytes. */
export interface BodyWorkerLimits {
  readonly workers: number;
  /** Timeout for one body. */
  readonly timeout: number;
  /** Maximum number of bodies that wait for a thread, and their total size. */
  readonly queued: number;
  readonly queuedBytes: number;
  /** Time after which an idle thread ends. */
  readonly idleTimeout: number;
}

export const BODY_WORKER_LIMITS: BodyWorkerLimits = {
  workers: 2,
  timeout: 5_000,
  queued: 64,
  queuedBytes: 16 * 1024 * 1024,
  idleTimeout: 60_000,
};

/** Enough for the expanded value of the largest body; a body that needs more ends only its thread. */
const HEAP_MIB = 256;

interface ParseJob {
  readonly request: ParseRequest;
  readonly resolve: (answer: BodyParseResult) => void;
  readonly reject: (error: Error) => void;
}

interface BodyWorker {
  readonly thread: WorkerThread;
  job: ParseJob | undefined;
  ready: boolean;
  timer: Timer | undefined;
}

/**
 * Parses bodies in worker threads that are started on demand and can be terminated: a body that takes too much time or
 * memory fails only its own request.
 */
export class BodyWorkerPool {
  private readonly pool = new Set<BodyWorker>();
  private readonly queue: ParseJob[] = [];
  private closed = false;

  constructor(
    private readonly clock: Clock,
    private readonly limits: BodyWorkerLimits = BODY_WORKER_LIMITS,
  ) {}

  /** Parses a body in a worker. Throws 400 if it takes too long, 503 if too many wait, or the signal's reason. */
  parse(order: ParseRequest, signal: AbortSignal): Promise<BodyParseResult> {
    signal.throwIfAborted();
    if (this.closed) throw new Unavailable('this control plane is ending');
    const bytes = this.queue.reduce((sum, job) => sum + job.request.bytes.length, order.bytes.length);
    if (this.queue.length >= this.limits.queued || bytes > this.limits.queuedBytes) {
      const detail = `${this.queue.length} large bodies wait to be read; try again, or send smaller ones.`;
      throw new HttpError(503, detail, { headers: { 'retry-after': '1' } });
    }
    return new Promise((resolve, reject) => {
      const settled = (): void => signal.removeEventListener('abort', cancel);
      const job: ParseJob = {
        request: order,
        resolve: (answer) => (settled(), resolve(answer)),
        reject: (error) => (settled(), reject(error)),
      };
      const cancel = (): void => this.giveUp(job, toError(signal.reason));
      signal.addEventListener('abort', cancel, { once: true });
      this.queue.push(job);
      this.assign();
    });
  }

  /** Number of threads. */
  get size(): number {
    return this.pool.size;
  }

  /** Number of bodies being parsed or waiting. */
  get busy(): number {
    return this.queue.length + [...this.pool].filter(({ job }) => job !== undefined).length;
  }

  /** Ends all threads and abandons their work. */
  async close(): Promise<void> {
    this.closed = true;
    const ending = new Unavailable('this control plane is ending');
    for (const job of this.queue.splice(0)) job.reject(ending);
    await Promise.all([...this.pool].map((one) => this.end(one, ending)));
  }

  /** Assigns waiting bodies to idle threads, and starts a thread if there is none. */
  private assign(): void {
    for (const one of this.pool) if (one.ready && !one.job) this.next(one);
    const starting = [...this.pool].filter(({ ready }) => !ready).length;
    if (this.queue.length > starting && this.pool.size < this.limits.workers && !this.closed) this.start();
  }

  private next(one: BodyWorker): void {
    one.timer?.cancel();
    one.job = this.queue.shift();
    const { job } = one;
    if (!job) {
      one.timer = this.clock.after(this.limits.idleTimeout, () => void this.end(one));
      return;
    }
    one.timer = this.clock.after(
      this.limits.timeout,
      () => void this.end(one, timedOut(job.request, this.limits.timeout)),
    );
    one.thread.postMessage(job.request);
  }

  private start(): void {
    const thread = startWorkerThread(join(__dirname, 'body-worker'), { heapMiB: HEAP_MIB });
    // A worker must not keep the program alive; a waiting client has a socket that does.
    thread.unref();
    const one: BodyWorker = { thread, job: undefined, ready: false, timer: undefined };
    this.pool.add(one);
    thread.on('message', (message: unknown) => this.take(one, message));
    thread.on('error', (error: unknown) => void this.end(one, failed(one.job?.request, error)));
    thread.on('exit', () => void this.end(one, failed(one.job?.request, new Error('the thread ended'))));
  }

  private take(one: BodyWorker, message: unknown): void {
    if (!isParseResult(message) || !this.pool.has(one)) return;
    const { job } = one;
    one.ready = true;
    one.job = undefined;
    job?.resolve(message);
    this.next(one);
    this.assign();
  }

  /** Ends a thread and rejects its body; a thread that never started also rejects the waiting ones. */
  private async end(one: BodyWorker, reason: Error = new Unavailable('the body was not read')): Promise<void> {
    if (!this.pool.delete(one)) return;
    one.timer?.cancel();
    one.job?.reject(reason);
    if (!one.ready) for (const job of this.queue.splice(0)) job.reject(reason);
    else this.assign();
    // Node 20 aborts the whole process if a thread is terminated while it links an ECMAScript module (typebox is one).
    if (!one.ready) await Promise.race([once(one.thread, 'message'), once(one.thread, 'exit')]).catch(() => undefined);
    await one.thread.terminate();
  }

  private giveUp(job: ParseJob, reason: Error): void {
    const place = this.queue.indexOf(job);
    if (place >= 0) this.queue.splice(place, 1);
    const busy = [...this.pool].find((one) => one.job === job);
    if (busy) void this.end(busy, reason);
    else job.reject(reason);
  }
}

function timedOut({ bytes }: ParseRequest, time: number): HttpError {
  const detail = `The body of ${bytes.length} bytes takes more than ${time / 1_000} s to read; send it as JSON, or less of it.`;
  return new HttpError(400, detail);
}

function toError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error('aborted', { cause: reason });
}

function failed(order: ParseRequest | undefined, error: unknown): Error {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code !== 'ERR_WORKER_OUT_OF_MEMORY' || !order) return toError(error);
  return new HttpError(400, `The body of ${order.bytes.length} bytes takes too much memory to read; send less of it.`);
}
