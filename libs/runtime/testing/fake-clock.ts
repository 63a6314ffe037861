import { sleepWith, type Clock, type Timer } from '../src/clock';

/** A clock that stands still until a test moves it; timers fire in the order of their time. */
export class FakeClock implements Clock {
  private timers: { readonly at: number; readonly order: number; readonly action: () => void }[] = [];
  private made = 0;

  constructor(private time = 0) {}

  now(): number {
    return this.time;
  }

  elapsed(): number {
    return this.time;
  }

  after(ms: number, action: () => void): Timer {
    const timer = { at: this.time + ms, order: this.made++, action };
    this.timers.push(timer);
    return { cancel: () => void (this.timers = this.timers.filter((t) => t !== timer)) };
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return sleepWith(this, ms, signal);
  }

  /** Moves time on by `ms`, firing what falls due on the way. */
  advance(ms: number): void {
    const end = this.time + ms;
    for (;;) {
      const due = this.timers.filter((t) => t.at <= end).sort((a, b) => a.at - b.at || a.order - b.order)[0];
      if (!due) break;
      this.timers = this.timers.filter((t) => t !== due);
      this.time = Math.max(this.time, due.at);
      due.action();
    }
    this.time = end;
  }

  /** Number of pending timers. */
  get pending(): number {
    return this.timers.length;
  }
}
