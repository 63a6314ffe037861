import type { Clock, Timer } from './clock';

/** Called with its delay, ms: how much later than wanted the event loop runs it. */
type TickAction = (delay: number) => void;

/** Share of an interval that passes at least before a tick: a timer may fire a moment early, and its work then waits for the next tick but one. */
const MIN_WAIT = 0.02;

/** Actions by the time at which they run, and its timer. */
class Ticks {
  private readonly due = new Map<number, Set<TickAction>>();

  constructor(private readonly clock: Clock) {}

  add(at: number, action: TickAction): Timer {
    const known = this.due.get(at);
    const actions = known ?? new Set();
    actions.add(action);
    if (!known) {
      this.due.set(at, actions);
      this.clock.after(at - this.clock.elapsed(), () => this.run(at, actions));
    }
    return { cancel: () => void actions.delete(action) };
  }

  private run(at: number, actions: ReadonlySet<TickAction>): void {
    this.due.delete(at);
    const delay = Math.max(0, this.clock.elapsed() - at);
    for (const action of actions) action(delay);
  }
}

const ticksByClock = new WeakMap<Clock, Ticks>();

/**
 * Runs `action` once at the next multiple of `interval` of the clock, with all other work of the process that waits for that moment, so that polls wake an idle process once and not each on its own.
 */
export function afterTick(clock: Clock, interval: number, action: TickAction): Timer {
  const ticks = ticksByClock.get(clock) ?? new Ticks(clock);
  ticksByClock.set(clock, ticks);
  const earliest = clock.elapsed() + interval * MIN_WAIT;
  return ticks.add(Math.ceil(earliest / interval) * interval, action);
}

/** Returns the next multiple of an interval after `now`, for polls that each know the time only by an argument. */
export function nextTickAt(now: number, interval: number): number {
  return now - (now % interval) + interval;
}

/** Resolves at the tick of `afterTick`, or when `signal` aborts; never rejects. */
export function sleepUntilTick(clock: Clock, interval: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const done = (): void => {
      timer.cancel();
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const timer = afterTick(clock, interval, done);
    signal?.addEventListener('abort', done, { once: true });
  });
}
