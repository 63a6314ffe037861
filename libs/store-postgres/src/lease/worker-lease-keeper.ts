import { join } from 'node:path';
import {
  afterTick,
  Backoff,
  type Clock,
  errorText,
  EventLoopLeaseKeeper,
  type EventLoopLeaseKeeperOptions,
  type KeptLease,
  type LeaseKeeper,
  type LeaseRequest,
  startWorkerThread,
  type Timer,
  type WorkerThread,
} from '@causeway/runtime';
import { LeaseHeartbeat, type HeartbeatEnd } from './lease-heartbeat';
import type { LeaseWorkerOptions } from './lease-worker';

export interface WorkerLeaseKeeperOptions extends EventLoopLeaseKeeperOptions {
  /** The servers of the database, a URL each. */
  readonly urls: readonly string[];
  /** Maximum time without a turn of the event loop before its lease is released, ms. */
  readonly stallMs: number;
}

/** Beats in the time that the loop may stand still: more cost CPU, fewer shorten that time. */
const BEATS = 15;
const HEAP_MIB = 32;

/**
 * Renews a term's lease in a thread of its own (docs/adr/0004-lease-in-a-worker.md): a busy event loop keeps the lease until it has stood still for
 * `stallMs`. The event loop itself renews while the thread cannot: until the thread is up, and when it cannot connect. A thread that dies is
 * restarted.
 */
export class WorkerLeaseKeeper implements LeaseKeeper {
  constructor(private readonly options: WorkerLeaseKeeperOptions) {}

  async keep(request: LeaseRequest): Promise<KeptLease | undefined> {
    const thread = new LeaseThread(this.options, request);
    const onLoop = await new EventLoopLeaseKeeper(this.options).keep(request, () => thread.fresh());
    if (!onLoop) return undefined;
    thread.start();
    return {
      age: () => Math.min(onLoop.age(), thread.age()),
      lost: () => thread.lost() ?? onLoop.lost(),
      inWorker: () => thread.fresh(),
      end: async () => void (await Promise.all([thread.end(), onLoop.end()])),
    };
  }
}

/** The thread of one term, and the heartbeat that it shares with the event loop. */
class LeaseThread {
  private readonly heartbeat = new LeaseHeartbeat();
  private readonly retry = new Backoff({ base: 1_000, cap: 30_000 });
  private worker: WorkerThread | undefined;
  private beating: Timer | undefined;
  private restart: Timer | undefined;
  private ended = false;

  constructor(
    private readonly options: WorkerLeaseKeeperOptions,
    private readonly request: LeaseRequest,
  ) {}

  start(): void {
    this.beat(this.options.clock);
    this.launch();
  }

  age(): number {
    return this.heartbeat.sinceRenewal();
  }

  /** Reports whether the newest renewal leaves time for the next. */
  fresh(): boolean {
    return this.age() < (this.request.leaseMs * 2) / 3;
  }

  lost(): string | undefined {
    const end = this.heartbeat.ended();
    return end && this.formatReason(end);
  }

  async end(): Promise<void> {
    this.ended = true;
    this.beating?.cancel();
    this.restart?.cancel();
    await this.worker?.terminate();
  }

  private formatReason(end: HeartbeatEnd): string {
    switch (end) {
      case 'stalled':
        return `the event loop stood still for more than ${this.options.stallMs} ms, and the lease was released`;
      case 'refused':
        return 'another leader has taken over';
    }
  }

  private beat(clock: Clock): void {
    this.heartbeat.beat();
    this.beating = afterTick(clock, this.options.stallMs / BEATS, () => this.beat(clock));
  }

  private launch(): void {
    const { urls, stallMs, logger } = this.options;
    const { epoch, holder, leaseMs, onLost } = this.request;
    const data: LeaseWorkerOptions = { urls, epoch, holder, leaseMs, stallMs, memory: this.heartbeat.memory };
    const worker = startWorkerThread(join(__dirname, 'lease-worker'), { data, heapMiB: HEAP_MIB });
    this.worker = worker;
    worker.unref(); // the thread ends with the process
    worker.on('message', () => onLost());
    worker.on('error', (error) =>
      logger.warn('the thread that renews the lease failed; the event loop renews it', { error: errorText(error) }),
    );
    worker.on('exit', () => {
      if (this.ended || this.heartbeat.ended() !== undefined) return;
      this.restart = this.options.clock.after(this.retry.next(), () => this.launch());
    });
  }
}
