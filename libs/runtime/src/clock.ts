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
/** Waits on any clock; ends early, without an error, when the signal aborts. */
export function sleepWith(clock: Pick<Clock, 'after'>, ms: number, signal?: AbortSignal): Promise<void> {
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
