import type { Clock, Timer } from '@causeway/runtime';

const WINDOW = 1_000;
const MOST_CLIENTS = 65_536;

/** Counts each asker's questions by the second; above the limit they are not answered. */
export class RateLimit {
  private counts = new Map<string, number>();
  private timer: Timer | undefined;

  /** `limit` questions a second of one address; 0 = no limit. */
  constructor(
    private readonly limit: number,
    private readonly clock: Clock,
  ) {}

  admits(address: string): boolean {
    if (this.limit === 0) return true;
    const count = (this.counts.get(address) ?? 0) + 1;
    if (count > this.limit) return false;
    // Forged addresses must not fill the memory; those that do not fit are let through.
    if (count > 1 || this.counts.size < MOST_CLIENTS) this.counts.set(address, count);
    this.timer ??= this.clock.after(WINDOW, () => this.nextWindow());
    return true;
  }

  /** Askers counted in this second. */
  get size(): number {
    return this.counts.size;
  }

  close(): void {
    this.timer?.cancel();
  }

  private nextWindow(): void {
    this.counts = new Map();
    this.timer = undefined;
  }
}
