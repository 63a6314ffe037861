import { yieldToEventLoop, type Clock } from '@causeway/runtime';

/** Maximum time that one slice of decoding and validation blocks the event loop, ms. */
const SLICE_DURATION = 5;

/** Number of peers' writes that run at the same time. */
const MAX_CONCURRENT_WRITES = 4;

/** Cost of a write in addition to its changes, in changes. */
const WRITE_COST = 20;

/** A peer that wrote within this time shares the store with others, ms. */
const SHARED_PERIOD = 1_000;

/** Dependencies of a scheduler. */
export interface SchedulerOptions {
  readonly clock: Pick<Clock, 'elapsed'>;
  /** Resolves when other work has had a turn of the event loop. */
  readonly yieldTurn?: () => Promise<void>;
}

/**
 * Shares the event loop (one slice per turn) and the store (one write per peer) between all peers of a process. The peer
 * with the least use goes first: a peer that floods waits for the others, and they wait for at most one piece of its work.
 */
export class InboundScheduler {
  private readonly slices = new FairQueue(1);
  private readonly writes = new FairQueue(MAX_CONCURRENT_WRITES);
  private last = { peer: '', at: -Infinity };
  /** The last write of another peer. */
  private former = { peer: '', at: -Infinity };
  readonly yieldTurn: () => Promise<void>;

  constructor(private readonly options: SchedulerOptions) {
    this.yieldTurn = options.yieldTurn ?? yieldToEventLoop;
  }

  /** Number of peers that wait for a turn. */
  get contenders(): number {
    return this.slices.contenders + this.writes.contenders;
  }

  /** Runs all steps in slices; a step processes at most one resource. Rejects with the error of a step. */
  async compute<T>(peer: string, steps: Iterator<unknown, T>): Promise<T> {
    for (;;) {
      const step = await this.slices.run(peer, 1, () => this.slice(steps));
      if (step.done === true) return step.value;
    }
  }

  /** Runs a write of this many changes when it is the peer's turn. Settles as `work` does. */
  write<T>(peer: string, changes: number, work: () => Promise<T>): Promise<T> {
    const at = this.options.clock.elapsed();
    if (this.last.peer !== peer) this.former = this.last;
    this.last = { peer, at };
    return this.writes.run(peer, changes + WRITE_COST, work);
  }

  /** Returns whether other peers are writing now: a large batch would delay them. */
  isShared(peer: string): boolean {
    const other = this.last.peer === peer ? this.former : this.last;
    return this.options.clock.elapsed() - other.at <= SHARED_PERIOD;
  }

  private async slice<T>(steps: Iterator<unknown, T>): Promise<IteratorResult<unknown, T>> {
    const { clock } = this.options;
    const end = clock.elapsed() + SLICE_DURATION;
    for (;;) {
      const step = steps.next();
      if (step.done === true) return step;
      if (clock.elapsed() < end) continue;
      await this.yieldTurn();
      return step;
    }
  }
}

/** Work of one peer that waits for its turn. */
interface Waiter {
  readonly key: string;
  /** Virtual time at which it would start if all waiting peers had equal shares. */
  readonly start: number;
  readonly begin: () => void;
}

/**
 * Start-time fair queuing: at most `slots` pieces of work run at the same time, one per peer; the waiting peer with the
 * least use goes first. A peer that floods delays itself and not the others. Without contention, work begins in the
 * same turn. Deterministic and without I/O.
 */
export class FairQueue {
  private readonly running = new Set<string>();
  private readonly waiting: Waiter[] = [];
  /** The virtual time at which a peer's share so far ends. Contains only peers ahead of `time`. */
  private readonly ends = new Map<string, number>();
  private time = 0;

  constructor(private readonly slots: number) {}

  /** Number of peers that wait for a turn. */
  get contenders(): number {
    return new Set(this.waiting.map(({ key }) => key)).size;
  }

  /** Returns whether a peer other than `key` has work here. */
  isContended(key: string): boolean {
    return this.waiting.some((entry) => entry.key !== key) || [...this.running].some((other) => other !== key);
  }

  /** Runs the work when it is the peer's turn; `cost` > 0 is charged to the peer's share. Settles as the work does. */
  run<T>(key: string, cost: number, work: () => Promise<T>): Promise<T> {
    const start = Math.max(this.time, this.ends.get(key) ?? 0);
    this.ends.set(key, start + cost);
    return new Promise((resolve, reject) => {
      const begin = (): void => {
        this.running.add(key);
        this.time = Math.max(this.time, start);
        work()
          .finally(() => this.left(key))
          .then(resolve, reject);
      };
      this.waiting.push({ key, start, begin });
      this.fill();
    });
  }

  private left(key: string): void {
    this.running.delete(key);
    if (this.waiting.length === 0 && this.running.size === 0) this.forget();
    this.fill();
  }

  /** Drops all shares: without work they no longer matter. */
  private forget(): void {
    this.ends.clear();
    this.time = 0;
  }

  private fill(): void {
    while (this.running.size < this.slots) {
      const next = this.next();
      if (next === undefined) return;
      this.waiting.splice(this.waiting.indexOf(next), 1);
      next.begin();
    }
  }

  private next(): Waiter | undefined {
    let first: Waiter | undefined;
    for (const entry of this.waiting) {
      if (this.running.has(entry.key)) continue;
      if (!first || entry.start < first.start) first = entry;
    }
    return first;
  }
}
