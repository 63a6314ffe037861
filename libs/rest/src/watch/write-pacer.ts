import { yieldToEventLoop } from '@causeway/runtime';

/** What all watches together write in one turn of the event loop; about a millisecond. */
const BYTES_IN_A_TURN = 1024 * 1024;

/** Shares out turns of the event loop, so that a large event for hundreds of readers does not hold up everybody else. */
export class WritePacer {
  private spent = 0;
  private running = false;
  private readonly queue: (() => void)[] = [];

  /** Undefined when `bytes` may be written now, else resolves in the turn in which they may. First come, first served. */
  take(bytes: number): Promise<void> | undefined {
    this.start();
    if (this.queue.length === 0 && this.spent < BYTES_IN_A_TURN) {
      this.spent += bytes;
      return undefined;
    }
    return new Promise((resolve) => {
      this.queue.push(() => {
        this.spent += bytes;
        resolve();
      });
    });
  }

  private start(): void {
    if (this.running) return;
    this.running = true;
    void yieldToEventLoop().then(() => this.turn());
  }

  private turn(): void {
    this.running = false;
    this.spent = 0;
    while (this.queue.length > 0 && this.spent < BYTES_IN_A_TURN) this.queue.shift()?.();
    if (this.queue.length > 0) this.start();
  }
}
