import { sleepWith, type Clock, type Timer } from './clock';

/** Called with its delay, ms: how much later than wanted the event loop runs it. */
type TickAction = (delay: number) => void;

/** Share of an interval that passes at least before a tick: a timer may fire a moment early, and its work then waits for the next tick but one. */
const MIN_WAIT = 0.02;

/** The actions of one moment. */
interface Tick {
  readonly actions: Set<{ readonly run: TickAction }>;
  readonly timer: Timer;
}

class Ticks {
  private readonly due = new Map<number, Tick>();

  constructor(private readonly clock: Clock) {}

  add(at: number, run: TickAction): Timer {
    const tick = this.due.get(at) ?? this.begin(at);
    const action = { run };
    tick.actions.add(action);
    return {
      cancel: () => {
        if (!tick.actions.delete(action) || tick.actions.size > 0 || this.due.get(at) !== tick) return;
        tick.timer.cancel();
        this.due.delete(at);
      },
    };
  }

  private begin(at: number): Tick {
    const actions: Tick['actions'] = new Set();
    const timer = this.clock.after(at - this.clock.elapsed(), () => {
      this.due.delete(at);
      const delay = Math.max(0, this.clock.elapsed() - at);
      for (const { run } of actions) run(delay);
    });
    const tick = { actions, timer };
    this.due.set(at, tick);
    return tick;
  }
}

const ticksByClock = new WeakMap<Clock, Ticks>();

/**
 * Runs `action` once at the next multiple of `interval` of the clock, with all other work of the process that waits for that moment, so that polls wake
 * an idle process once and not each on its own.
 */
export function afterTick(clock: Clock, interval: number, action: TickAction): Timer {
  const ticks = ticksByClock.get(clock) ?? new Ticks(clock);
  ticksByClock.set(clock, ticks);
  const earliest = clock.elapsed() + interval * MIN_WAIT;
  return ticks.add(Math.ceil(earliest / interval) * interval, action);
}

/**
 * Returns the time (ms since 1970) of the tick of `afterTick`, for polls that give the time of their next run: `elapsed` and `now` are one moment of both clocks,
 * which have their full seconds at different times.
 */
export function nextTickAt(elapsed: number, now: number, interval: number): number {
  const tick = Math.ceil((elapsed + interval * MIN_WAIT) / interval) * interval;
  return Math.ceil(now + tick - elapsed);
}

/** Resolves at the tick of `afterTick`, or when `signal` aborts; never rejects. */
export function sleepUntilTick(clock: Clock, interval: number, signal?: AbortSignal): Promise<void> {
  return sleepWith({ after: (ms, action) => afterTick(clock, ms, action) }, interval, signal);
}
