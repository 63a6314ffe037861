import type { Clock } from '@causeway/runtime';

/** A bell that many wait for: who noted the count before it looked misses no ring. */
export class WakeUpSignal {
  private rung = 0;
  private readonly waiting = new Set<() => void>();

  constructor(private readonly clock: Clock) {}

  get count(): number {
    return this.rung;
  }

  notify(): void {
    this.rung++;
    for (const resolve of [...this.waiting]) resolve();
  }

  /** Resolves once the bell has rung more than `count` times, after `atMost` ms, or when the signal aborts. */
  wait(count: number, atMost: number, signal: AbortSignal): Promise<void> {
    if (this.rung > count || signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const done = (): void => {
        timer.cancel();
        this.waiting.delete(done);
        signal.removeEventListener('abort', done);
        resolve();
      };
      const timer = this.clock.after(atMost, done);
      this.waiting.add(done);
      signal.addEventListener('abort', done, { once: true });
    });
  }
}
