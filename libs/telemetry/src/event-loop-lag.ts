import { createHistogram } from 'node:perf_hooks';
import { afterTick, systemClock, type Clock, type Timer } from '@causeway/runtime';
import { Gauge, type Registry } from 'prom-client';

/** Interval of the samples while the event loop works, ms. A delay contains it, as Node's own has it. */
const RESOLUTION = 10;
/** Interval at which it is decided whether the event loop works, ms. */
const CHECK_INTERVAL = 1_000;
/** CPU time between two checks from which the event loop works, as a share of a core: on a busy machine its own time passes while others run. */
const MIN_WORK = 0.1;
/** Number of checks in a row without work after which no more samples are taken. */
const MAX_RESTS = 3;

const SUMMARIES = {
  min: 'The minimum recorded event loop delay.',
  max: 'The maximum recorded event loop delay.',
  mean: 'The mean of the recorded event loop delays.',
  stddev: 'The standard deviation of the recorded event loop delays.',
  p50: 'The 50th percentile of the recorded event loop delays.',
  p90: 'The 90th percentile of the recorded event loop delays.',
  p99: 'The 99th percentile of the recorded event loop delays.',
} as const;
type Summary = keyof typeof SUMMARIES;
const NAMES: readonly Summary[] = ['min', 'max', 'mean', 'stddev', 'p50', 'p90', 'p99'];

/**
 * Records the delays of the event loop: each 10 ms while it works. That would wake an idle process a hundred times a second, so an event loop at rest
 * is looked at with the process's other polls, once a second, and only the delay of that look is recorded.
 */
export class EventLoopLag {
  private readonly recorded = createHistogram();
  private used: number;
  private rests = MAX_RESTS;
  private checking: Timer | undefined;
  private sampling: Timer | undefined;

  constructor(
    private readonly clock: Clock = systemClock,
    private readonly checkInterval = CHECK_INTERVAL,
    /** Returns the CPU time that this process has used, ms. */
    private readonly readUsed = readUsedCpu,
  ) {
    this.used = readUsed();
  }

  /** Idempotent. */
  start(): void {
    this.checking ??= afterTick(this.clock, this.checkInterval, (delay) => {
      this.checking = undefined;
      this.check(delay);
      this.start();
    });
  }

  close(): void {
    this.checking?.cancel();
    this.sampling?.cancel();
  }

  get isSampling(): boolean {
    return this.rests < MAX_RESTS;
  }

  /** Returns the delays since the last call, s. */
  take(): Readonly<Record<Summary, number>> {
    const { recorded } = this;
    const hasNone = recorded.count === 0;
    const seconds = (nanoseconds: number): number => (hasNone ? 0 : nanoseconds / 1e9);
    const taken = {
      min: seconds(recorded.min),
      max: seconds(recorded.max),
      mean: seconds(recorded.mean),
      stddev: seconds(recorded.stddev),
      p50: seconds(recorded.percentile(50)),
      p90: seconds(recorded.percentile(90)),
      p99: seconds(recorded.percentile(99)),
    };
    recorded.reset();
    return taken;
  }

  private check(delay: number): void {
    this.record(RESOLUTION + delay);
    const before = this.used;
    this.used = this.readUsed();
    const isAtWork = this.used - before >= MIN_WORK * this.checkInterval;
    this.rests = isAtWork ? 0 : this.rests + 1;
    if (this.isSampling && !this.sampling) this.sample();
  }

  private sample(): void {
    const { clock } = this;
    const began = clock.elapsed();
    this.sampling = clock.after(RESOLUTION, () => {
      this.record(clock.elapsed() - began);
      this.sampling = undefined;
      if (this.isSampling) this.sample();
    });
  }

  private record(ms: number): void {
    this.recorded.record(Math.round(ms * 1e6));
  }
}

function readUsedCpu(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

/** Replaces Node's metrics of the delay, which have the same names and meaning. */
export function registerEventLoopLag(registry: Registry, lag: EventLoopLag): void {
  const gauges = NAMES.map((summary) => {
    const name = `nodejs_eventloop_lag_${summary}_seconds`;
    registry.removeSingleMetric(name);
    return [summary, new Gauge({ name, help: SUMMARIES[summary], registers: [] })] as const;
  });
  // The first one of a scrape sets all.
  const [first] = gauges;
  const collect = (): void => {
    const taken = lag.take();
    for (const [summary, gauge] of gauges) gauge.set(taken[summary]);
  };
  if (first) Object.assign(first[1], { collect });
  for (const [, gauge] of gauges) registry.registerMetric(gauge);
}
