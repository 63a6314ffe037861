import { BoundedMap, type Clock, type Logger } from '@causeway/runtime';

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
