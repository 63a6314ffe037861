import { orAborted } from '@causeway/runtime';
import { Overloaded } from './errors';

/** The bounds of a ConcurrencyLimit. */
export interface ConcurrencyBounds {
  /** Maximum number of running tasks. */
  readonly running: number;
  /** Maximum number of waiting tasks; more are refused. */
  readonly queued: number;
}

/** Runs a bounded number of expensive tasks at once. A bounded number of others waits in order; the rest is refused. */
export class ConcurrencyLimit {
  private running = 0;
  private readonly queue = new Set<() => void>();

  constructor(private readonly bounds: ConcurrencyBounds) {}

  /**
   * Runs `task` when its turn comes. Rejects with Overloaded when the queue is full, and with the signal's reason when
   * the signal aborts before the task starts. A started task gets the signal and keeps its slot until it ends.
   */
  async run<T>(task: (signal: AbortSignal) => Promise<T>, signal: AbortSignal): Promise<T> {
    signal.throwIfAborted();
    if (this.running >= this.bounds.running) await this.turn(signal);
    else this.running++;
    try {
      return await task(signal);
    } finally {
      this.release();
    }
  }

  /** Resolves when a finished task hands over its slot. */
  private async turn(signal: AbortSignal): Promise<void> {
    if (this.queue.size >= this.bounds.queued) {
      throw new Overloaded(`${this.running} costly requests are under way and ${this.queue.size} wait; try again.`);
    }
    let start: () => void = () => undefined;
    const turn = new Promise<void>((resolve) => {
      start = resolve;
      this.queue.add(resolve);
    });
    try {
      await orAborted(turn, signal);
    } catch (error) {
      // The slot was handed over in the same turn of the event loop in which the signal aborted.
      if (!this.queue.delete(start)) this.release();
      throw error;
    }
  }

  private release(): void {
    const [next] = this.queue;
    if (next === undefined) this.running--;
    else {
      this.queue.delete(next);
      next();
    }
  }
}
