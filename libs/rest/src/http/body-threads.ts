import { join } from 'node:path';
import { Unavailable } from '@causeway/resources';
import { startWorkerThread, type Clock, type Timer, type WorkerThread } from '@causeway/runtime';
import { HttpFailure } from './http-failure';
import { isParseAnswer, type ParseAnswer, type ParseOrder } from './parse-messages';

/** Bounds of the threads that read bodies; durations in ms, sizes in bytes. */
export interface BodyThreadLimits {
  readonly threads: number;
  /** How long one body may take. */
  readonly time: number;
  /** Bodies that wait for a thread, and their bytes. */
  readonly waiting: number;
  readonly waitingBytes: number;
  /** How long a thread without work is kept. */
  readonly idle: number;
}

export const BODY_THREADS: BodyThreadLimits = {
  threads: 2,
  time: 5_000,
  waiting: 64,
  waitingBytes: 16 * 1024 * 1024,
  idle: 60_000,
};

/** Enough for what a body of the largest size unfolds to; a body that needs more ends its thread and nothing else. */
const HEAP_MIB = 256;

interface Job {
  readonly order: ParseOrder;
  readonly resolve: (answer: ParseAnswer) => void;
  readonly reject: (error: Error) => void;
}

interface Running {
  readonly thread: WorkerThread;
  job: Job | undefined;
  ready: boolean;
  timer: Timer | undefined;
}

/**
 * Reads bodies beside the main thread, in threads that are started when they are needed and can be ended: a body that
 * takes too long or too much memory costs its own request only.
 */
export class BodyThreads {
  private readonly running = new Set<Running>();
  private readonly waiting: Job[] = [];
  private closed = false;

  constructor(
    private readonly clock: Clock,
    private readonly limits: BodyThreadLimits = BODY_THREADS,
  ) {}

  /** What a thread says of a body. Throws 400 when it takes too long, 503 when too many wait, or the signal's reason. */
  parse(order: ParseOrder, signal: AbortSignal): Promise<ParseAnswer> {
    signal.throwIfAborted();
    if (this.closed) throw new Unavailable('this control plane is ending');
    const bytes = this.waiting.reduce((sum, job) => sum + job.order.bytes.length, order.bytes.length);
    if (this.waiting.length >= this.limits.waiting || bytes > this.limits.waitingBytes) {
      const detail = `${this.waiting.length} large bodies wait to be read; try again, or send smaller ones.`;
      throw new HttpFailure(503, detail, { headers: { 'retry-after': '1' } });
    }
    return new Promise((resolve, reject) => {
      const settled = (): void => signal.removeEventListener('abort', giveUp);
      const job: Job = {
        order,
        resolve: (answer) => (settled(), resolve(answer)),
        reject: (error) => (settled(), reject(error)),
      };
      const giveUp = (): void => this.giveUp(job, toError(signal.reason));
      signal.addEventListener('abort', giveUp, { once: true });
      this.waiting.push(job);
      this.assign();
    });
  }

  /** How many threads there are. */
  get size(): number {
    return this.running.size;
  }

  /** How many bodies are being read or wait. */
  get busy(): number {
    return this.waiting.length + [...this.running].filter(({ job }) => job !== undefined).length;
  }

  /** Ends all threads; what they were reading is given up. */
  async close(): Promise<void> {
    this.closed = true;
    const ending = new Unavailable('this control plane is ending');
    for (const job of this.waiting.splice(0)) job.reject(ending);
    await Promise.all([...this.running].map((one) => this.end(one, ending)));
  }

  /** Hands waiting bodies to threads that are free, and starts one where none is. */
  private assign(): void {
    for (const one of this.running) if (one.ready && !one.job) this.next(one);
    const starting = [...this.running].filter(({ ready }) => !ready).length;
    if (this.waiting.length > starting && this.running.size < this.limits.threads && !this.closed) this.start();
  }

  private next(one: Running): void {
    one.timer?.cancel();
    one.job = this.waiting.shift();
    const { job } = one;
    if (!job) {
      one.timer = this.clock.after(this.limits.idle, () => void this.end(one));
      return;
    }
    one.timer = this.clock.after(this.limits.time, () => void this.end(one, tooLong(job.order, this.limits.time)));
    one.thread.postMessage(job.order);
  }

  private start(): void {
    const thread = startWorkerThread(join(__dirname, 'parse-body-worker'), { heapMiB: HEAP_MIB });
    // It must not keep the program alive; whoever waits for an answer has a socket that does.
    thread.unref();
    const one: Running = { thread, job: undefined, ready: false, timer: undefined };
    this.running.add(one);
    thread.on('message', (message: unknown) => this.take(one, message));
    thread.on('error', (error: unknown) => void this.end(one, failed(one.job?.order, error)));
    thread.on('exit', () => void this.end(one, failed(one.job?.order, new Error('the thread ended'))));
  }

  private take(one: Running, message: unknown): void {
    if (!isParseAnswer(message)) return;
    const { job } = one;
    one.ready = true;
    one.job = undefined;
    job?.resolve(message);
    this.next(one);
    this.assign();
  }

  /** Ends a thread and rejects what it is at; a thread that never came up takes what waits with it. */
  private async end(one: Running, reason: Error = new Unavailable('the body was not read')): Promise<void> {
    if (!this.running.delete(one)) return;
    one.timer?.cancel();
    one.job?.reject(reason);
    if (!one.ready) for (const job of this.waiting.splice(0)) job.reject(reason);
    else this.assign();
    await one.thread.terminate();
  }

  private giveUp(job: Job, reason: Error): void {
    const place = this.waiting.indexOf(job);
    if (place >= 0) this.waiting.splice(place, 1);
    const busy = [...this.running].find((one) => one.job === job);
    if (busy) void this.end(busy, reason);
    else job.reject(reason);
  }
}

function tooLong({ bytes }: ParseOrder, time: number): HttpFailure {
  const detail = `The body of ${bytes.length} bytes takes more than ${time / 1_000} s to read; send it as JSON, or less of it.`;
  return new HttpFailure(400, detail);
}

function toError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error('aborted', { cause: reason });
}

function failed(order: ParseOrder | undefined, error: unknown): Error {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code !== 'ERR_WORKER_OUT_OF_MEMORY' || !order) return toError(error);
  return new HttpFailure(
    400,
    `The body of ${order.bytes.length} bytes takes too much memory to read; send less of it.`,
  );
}
