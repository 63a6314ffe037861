import { onAbort } from './abort';
import type { Clock } from './clock';

/** Sleep of one part that others end early. A call of `wake` while it does not sleep ends its next sleep at once. */
export class WakeableSleep {
  private isWoken = false;
  private end: (() => void) | undefined;

  constructor(private readonly clock: Pick<Clock, 'after'>) {}

  wake(): void {
    this.isWoken = true;
    this.end?.();
  }

  /** Resolves after `ms` (Infinity: never by itself), at a wake, or when `signal` aborts. */
  async sleep(ms: number, signal: AbortSignal): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = ms === Infinity ? undefined : this.clock.after(ms, resolve);
      const forget = onAbort(signal, resolve);
      this.end = () => {
        timer?.cancel();
        forget();
        resolve();
      };
      if (this.isWoken) resolve();
    });
    this.end?.();
    this.end = undefined;
    this.isWoken = false;
  }
}
