/** A timer that was asked for and can be taken back; cancelling twice or after it fired does nothing. */
export interface Timer {
  cancel(): void;
}

/** Time as a program sees it. Everything that waits or dates takes one, so that tests own time. */
export interface Clock {
  /** ms since 1970. */
  now(): number;
  /** ms since some fixed moment of this process; unlike `now` it never jumps. For measuring how long something takes. */
  elapsed(): number;
  /** Runs `action` once after `ms`; does not keep the process alive. */
  after(ms: number, action: () => void): Timer;
  /** Resolves after `ms`, or at once when `signal` aborts; never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** The machine's own time. */
export const systemClock: Clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  after: (ms, action) => {
    const timer = setTimeout(action, ms).unref();
    return { cancel: () => clearTimeout(timer) };
  },
  sleep: (ms, signal) => sleepWith(systemClock, ms, signal),
};

/** `sleep` in terms of a clock's `after`. */
function sleepWith(clock: Pick<Clock, 'after'>, ms: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const done = (): void => {
      timer.cancel();
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const timer = clock.after(ms, done);
    signal?.addEventListener('abort', done, { once: true });
  });
}

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

  /** How many timers wait. */
  get pending(): number {
    return this.timers.length;
  }
}
