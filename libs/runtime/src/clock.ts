/** A scheduled timer; cancelling it twice or after it fired has no effect. */
export interface Timer {
  cancel(): void;
}

/** The time of a program. Everything that waits or reads the time gets a clock, so that tests control it. */
export interface Clock {
  /** Returns the time in ms since 1970. */
  now(): number;
  /** Returns ms since some fixed moment of this process; unlike `now` it never jumps. For measuring durations. */
  elapsed(): number;
  /** Runs `action` once after `ms`; does not keep the process alive. */
  after(ms: number, action: () => void): Timer;
  /** Resolves after `ms`, or when `signal` aborts; never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** The host's own clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  after: (ms, action) => {
    const timer = setTimeout(action, ms).unref();
    return { cancel: () => clearTimeout(timer) };
  },
  sleep: (ms, signal) => sleepWith(systemClock, ms, signal),
};

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
