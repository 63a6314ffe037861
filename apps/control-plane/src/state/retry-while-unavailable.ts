import { Unavailable } from '@causeway/resources';
import { Backoff, errorText, type Clock, type Logger } from '@causeway/runtime';

/** Options of the retries. */
export interface RetryOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Ends the retries. */
  readonly signal: AbortSignal;
}

/** Maximum time for which a start waits for a database that was available before, ms. */
const RETRY_TIMEOUT = 60_000;

/**
 * Retries work of a start while the database is unavailable: a restart of the database must not end a starting program.
 * Rejects with any other error, and with Unavailable after the maximum time or at shutdown.
 */
export async function retryWhileUnavailable<T>(
  work: () => Promise<T>,
  { clock, logger, signal }: RetryOptions,
): Promise<T> {
  const until = clock.now() + RETRY_TIMEOUT;
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
