import type { Clock } from './clock';
import type { LogFields, Logger } from './logger';

export interface LogLimit {
  readonly clock: Clock;
  /** Lines of one message that are written in one window, default 10. */
  readonly lines?: number;
  /** ms; default one minute. */
  readonly windowMs?: number;
}

/** Messages are constant text; should they not be, no more than this many are told apart. */
const MOST_MESSAGES = 256;
const REST = 'other lines';

interface Window {
  began: number;
  written: number;
  suppressed: number;
}

/**
 * A logger for what a peer can cause as often as it likes: of each message only the first lines of a window are written,
 * and the first of the next window says how many were not (`suppressed`). One limit a source: its children share it.
 */
export function limitedLogger(logger: Logger, limit: LogLimit): Logger {
  return wrap(logger, new MessageLimits(limit));
}

class MessageLimits {
  private readonly windows = new Map<string, Window>();

  constructor(private readonly limit: LogLimit) {}

  /** How many lines were left out before this one; undefined when it is to be left out, too. */
  pass(message: string): number | undefined {
    const { clock, lines = 10, windowMs = 60_000 } = this.limit;
    const now = clock.elapsed();
    const window = this.windowOf(message, now);
    let suppressed = 0;
    if (now - window.began >= windowMs) {
      ({ suppressed } = window);
      Object.assign(window, { began: now, written: 0, suppressed: 0 });
    }
    if (window.written >= lines) {
      window.suppressed++;
      return undefined;
    }
    window.written++;
    return suppressed;
  }

  private windowOf(message: string, now: number): Window {
    const key = this.windows.has(message) || this.windows.size < MOST_MESSAGES ? message : REST;
    const window = this.windows.get(key) ?? { began: now, written: 0, suppressed: 0 };
    this.windows.set(key, window);
    return window;
  }
}

function wrap(logger: Logger, limits: MessageLimits): Logger {
  const write = (level: 'debug' | 'info' | 'warn' | 'error', message: string, fields?: LogFields): void => {
    const suppressed = limits.pass(message);
    if (suppressed !== undefined) logger[level](message, suppressed > 0 ? { ...fields, suppressed } : fields);
  };
  return {
    debug: (message, fields) => write('debug', message, fields),
    info: (message, fields) => write('info', message, fields),
    warn: (message, fields) => write('warn', message, fields),
    error: (message, fields) => write('error', message, fields),
    child: (fields) => wrap(logger.child(fields), limits),
  };
}
