import { type Clock, type LogFields, type Logger, BoundedMap } from '@causeway/runtime';

/** Lines of one peer in each period. */
const LINES = 20;

/** ms */
const PERIOD = 10_000;

type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/**
 * A logger for what a peer causes: so many lines a period go through, of the others one line says how many there were. What
 * its children say counts with it.
 */
export class RateLimitedLogger implements Logger {
  constructor(
    private readonly inner: Logger,
    private readonly gate: LineQuota,
  ) {}

  static of(inner: Logger, clock: Pick<Clock, 'after'>): RateLimitedLogger {
    return new RateLimitedLogger(inner, new LineQuota(inner, clock));
  }

  debug(message: string, fields?: LogFields): void {
    this.say('debug', message, fields);
  }

  info(message: string, fields?: LogFields): void {
    this.say('info', message, fields);
  }

  warn(message: string, fields?: LogFields): void {
    this.say('warn', message, fields);
  }

  error(message: string, fields?: LogFields): void {
    this.say('error', message, fields);
  }

  child(fields: LogFields): Logger {
    return new RateLimitedLogger(this.inner.child(fields), this.gate);
  }

  private say(level: LogLevel, message: string, fields?: LogFields): void {
    if (this.gate.lets()) this.inner[level](message, fields);
  }
}

/** Counts the lines of a period; the period begins with its first line. */
class LineQuota {
  private lines = 0;

  constructor(
    private readonly logger: Logger,
    private readonly clock: Pick<Clock, 'after'>,
  ) {}

  lets(): boolean {
    if (this.lines === 0) this.clock.after(PERIOD, () => this.end());
    this.lines++;
    return this.lines <= LINES;
  }

  private end(): void {
    const left = this.lines - LINES;
    this.lines = 0;
    if (left > 0)
      this.logger.warn('more was said of this peer than is logged', { lines: left, seconds: PERIOD / 1_000 });
  }
}

/** Lines about one caller are at least this far apart, ms. */
const PAUSE = 10_000;

/** Most callers that are told apart. */
const MOST_KEYS = 1_000;

interface LoggedCaller {
  /** By `Clock.elapsed`. */
  readonly at: number;
  /** Lines that were left out since. */
  left: number;
}

type Fields = Parameters<Logger['warn']>[1];

/** Writes of refusals one line a caller and 10 s; the next one says how many were left out. */
export class RefusalLog {
  private readonly told = new BoundedMap<LoggedCaller>(MOST_KEYS);

  constructor(
    private readonly clock: Pick<Clock, 'elapsed'>,
    private readonly logger: Logger,
  ) {}

  /** `caller` is a zone's name or an address; one line a caller, whatever was refused. */
  warn(caller: string, message: string, fields: Fields): void {
    const now = this.clock.elapsed();
    const last = this.told.get(caller);
    if (last && now - last.at < PAUSE) {
      last.left++;
      return;
    }
    this.told.set(caller, { at: now, left: 0 });
    this.logger.warn(message, { ...fields, ...(last && last.left > 0 ? { leftOut: last.left } : {}) });
  }
}
