import { Unavailable } from '@causeway/resources';
import { Backoff, errorText, type Clock, type Logger } from '@causeway/runtime';

/** Options of a wait. */
export interface RetryOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Ends the waiting. */
  readonly signal: AbortSignal;
}

/** Time for which a start waits for a database that was available before, ms. */
const RETRY_FOR = 60_000;

/**
 * Work of a start, tried again while the database is away: a restart of the database must end no program that starts.
 * Rejects with what no waiting mends, and with Unavailable when the time is over or the program is to end.
 */
export async function retryWhileUnavailable<T>(
  work: () => Promise<T>,
  { clock, logger, signal }: RetryOptions,
): Promise<T> {
  const until = clock.now() + RETRY_FOR;
  const backoff = new Backoff({ base: 100, cap: 1_000 });
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof Unavailable) || clock.now() >= until || signal.aborted) throw error;
      logger.warn('a step of the start failed, trying again', { error: errorText(error) });
    }
    await clock.sleep(backoff.next(), signal);
  }
}
