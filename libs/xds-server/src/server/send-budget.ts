import { inTimedSlices, yieldToEventLoop, type Clock } from '@causeway/runtime';
import type { Subscriber } from './subscribers';

/**
 * The budget of unacknowledged bytes on all streams of a server. While it is exceeded, streams wait in the order of their arrival; an ack serves the
 * first of them, and the next only while there is room, so that an ack costs what it frees.
 */
export class SendBudget<V> {
  private unacked = 0;
  private readonly waiting = new Set<Subscriber<V>>();
  private isServing = false;

  constructor(
    private readonly most: number,
    private readonly clock: Pick<Clock, 'elapsed'>,
  ) {}

  get unackedBytes(): number {
    return this.unacked;
  }

  isSpent(): boolean {
    return this.unacked >= this.most;
  }

  spend(bytes: number): void {
    this.unacked += bytes;
  }

  /** Returns bytes to the budget: they were acknowledged, or their stream has ended. */
  refund(bytes: number): void {
    this.unacked -= bytes;
    if (this.isServing || !this.canServe()) return;
    this.isServing = true;
    void this.serve();
  }

  /** Queues a stream, to be pumped when there is room. */
  wait(stream: Subscriber<V>): void {
    this.waiting.add(stream);
  }

  /** Removes a stream that has ended. */
  leave(stream: Subscriber<V>): void {
    this.waiting.delete(stream);
  }

  private canServe(): boolean {
    return this.waiting.size > 0 && !this.isSpent();
  }

  private async serve(): Promise<void> {
    await yieldToEventLoop();
    while (this.canServe()) await inTimedSlices(this.pumps(), { clock: this.clock });
    this.isServing = false;
  }

  private *pumps(): Generator<void> {
    for (const stream of this.waiting) {
      if (this.isSpent()) return;
      this.waiting.delete(stream);
      stream.pump();
      yield;
    }
  }
}
