import { afterTick, type Clock } from '@causeway/runtime';

/** Wakes all waiters at once. A waiter that noted `count` before it read the log misses no wake-up. */
export class WakeUpSignal {
  private notified = 0;
  private readonly waiting = new Set<() => void>();

  constructor(private readonly clock: Clock) {}

  get count(): number {
    return this.notified;
  }

  notify(): void {
    this.notified++;
    for (const resolve of [...this.waiting]) resolve();
  }

  /** Resolves once `notify` was called more than `count` times, at a tick after about `atMost` ms at most, or when the signal aborts. */
  wait(count: number, atMost: number, signal: AbortSignal): Promise<void> {
    if (this.notified > count || signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const done = (): void => {
        timer.cancel();
        this.waiting.delete(done);
        signal.removeEventListener('abort', done);
        resolve();
      };
      const timer = afterTick(this.clock, atMost, done);
      this.waiting.add(done);
      signal.addEventListener('abort', done, { once: true });
    });
  }
}
