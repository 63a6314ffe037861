import { BoundedMap } from './bounded-map';
import type { Clock } from './clock';
import type { LogFields, Logger, LogLevel } from './logger';

/** Period over which the lines of one peer are counted, ms. */
const PERIOD = 10_000;

/** Maximum number of lines about one peer's streams per period. */
const STREAM_LINES = 20;

/** Maximum number of callers that are counted separately. */
const MAX_CALLERS = 1_000;

/**
 * A logger for events that one peer causes: it passes a bounded number of lines per period, and at its end logs how
 * many were omitted. Child loggers share the limit.
 */
export class RateLimitedLogger implements Logger {
  private constructor(
    private readonly inner: Logger,
    private readonly quota: LineQuota,
    private readonly clock: Pick<Clock, 'after'>,
  ) {}

  static of(inner: Logger, clock: Pick<Clock, 'after'>): RateLimitedLogger {
    return new RateLimitedLogger(inner, new LineQuota(STREAM_LINES), clock);
  }

  debug(message: string, fields?: LogFields): void {
    this.log('debug', message, fields);
  }

  info(message: string, fields?: LogFields): void {
    this.log('info', message, fields);
  }

  warn(message: string, fields?: LogFields): void {
    this.log('warn', message, fields);
  }

  error(message: string, fields?: LogFields): void {
    this.log('error', message, fields);
  }

  child(fields: LogFields): Logger {
    return new RateLimitedLogger(this.inner.child(fields), this.quota, this.clock);
  }

  private log(level: LogLevel, message: string, fields?: LogFields): void {
    if (this.quota.isUnused) this.clock.after(PERIOD, () => this.endPeriod());
    if (this.quota.take()) this.inner[level](message, fields);
  }

  private endPeriod(): void {
    const lines = this.quota.reset();
    if (lines > 0) this.inner.warn('further lines about this peer were not logged', { lines, seconds: PERIOD / 1_000 });
  }
}

/** Logs refused calls: one line per caller and period; the caller's next line has the number of omitted ones (`leftOut`). */
export class CallerLog {
  private readonly callers = new BoundedMap<{ readonly quota: LineQuota; readonly since: number }>(MAX_CALLERS);

  constructor(
    private readonly logger: Logger,
    private readonly clock: Pick<Clock, 'elapsed'>,
  ) {}

  /** `caller` is a zone's name or an address; all refusals of a caller count together. */
  warn(caller: string, message: string, fields: LogFields): void {
    const now = this.clock.elapsed();
    const known = this.callers.get(caller);
    if (known && now - known.since < PERIOD) return void known.quota.take();
    const quota = new LineQuota(1);
    quota.take();
    this.callers.set(caller, { quota, since: now });
    const leftOut = known?.quota.reset() ?? 0;
    this.logger.warn(message, { ...fields, ...(leftOut > 0 ? { leftOut } : {}) });
  }
}

/** Counts the lines of one period. */
class LineQuota {
  private lines = 0;

  constructor(private readonly most: number) {}

  get isUnused(): boolean {
    return this.lines === 0;
  }

  /** Whether another line may be logged. */
  take(): boolean {
    return ++this.lines <= this.most;
  }

  /** Starts a period; returns how many lines of the previous one were omitted. */
  reset(): number {
    const leftOut = Math.max(0, this.lines - this.most);
    this.lines = 0;
    return leftOut;
  }
}
