import { orAborted } from '@causeway/runtime';
import { HttpError } from './http-error';

/** How much of a kind of work may be under way. */
export interface GateLimits {
  /** At once. */
  readonly most: number;
  /** Waiting for their turn; more are refused. */
  readonly waiting: number;
}

/** Lets a bounded number of costly requests work at once; a few more wait, the rest is 503 with Retry-After. */
export class Gate {
  private open = 0;
  private readonly queue = new Set<() => void>();

  constructor(private readonly limits: GateLimits) {}

  /**
   * Runs `work` when it is its turn. Rejects with the signal's reason when that aborts before; after that it is for the
   * work to end soon, which is given the signal and holds its place until then.
   */
  async run<T>(work: (signal: AbortSignal) => Promise<T>, signal: AbortSignal): Promise<T> {
    signal.throwIfAborted();
    if (this.open >= this.limits.most) await this.turn(signal);
    else this.open++;
    try {
      return await work(signal);
    } finally {
      this.leave();
    }
  }

  /** Resolves when somebody who leaves hands over their place. */
  private async turn(signal: AbortSignal): Promise<void> {
    if (this.queue.size >= this.limits.waiting) {
      const detail = `${this.open} costly requests are under way and ${this.queue.size} wait; try again.`;
      throw new HttpError(503, detail, { headers: { 'retry-after': '1' } });
    }
    let enter: () => void = () => undefined;
    const turn = new Promise<void>((resolve) => {
      enter = resolve;
      this.queue.add(resolve);
    });
    try {
      await orAborted(turn, signal);
    } catch (error) {
      // Who was handed a place and aborted in the same turn hands it on.
      if (!this.queue.delete(enter)) this.leave();
      throw error;
    }
  }

  private leave(): void {
    const [next] = this.queue;
    if (next === undefined) this.open--;
    else {
      this.queue.delete(next);
      next();
    }
  }
}
