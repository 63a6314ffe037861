import { types } from 'node:util';
import { Unavailable } from '@causeway/resources';
import { Backoff } from '@causeway/runtime';
import { awaitPostgres, describeAddress, type AwaitOptions } from './await-postgres';
import { databaseFailure } from './database-failure';
import { migrate, type MigrateOptions } from './migrate';

/**
 * Waits until the database answers and brings its schema up to date; begins anew when it goes away in between. Throws
 * Unavailable with one line when the time is over, the signal aborts, or waiting cannot help.
 */
export async function readyDatabase(options: AwaitOptions & MigrateOptions): Promise<void> {
  const { clock, logger, signal, timeout } = options;
  const until = clock.now() + timeout;
  const backoff = new Backoff({ base: 100, cap: 1_000 });
  for (;;) {
    await awaitPostgres({ ...options, timeout: until - clock.now() });
    const failure = await away(migrate(options));
    if (failure === undefined) return;
    if (clock.now() >= until || signal.aborted) throw failure;
    logger.warn(
      `Postgres at ${describeAddress(options.url)} went away during the start, trying again: ${failure.message}`,
    );
    await clock.sleep(backoff.next(), signal);
  }
}

/** Why the database could not do the work now, undefined when it has; rejects with what no later try would mend. */
async function away(work: Promise<void>): Promise<Unavailable | undefined> {
  try {
    await work;
    return undefined;
  } catch (error) {
    const failure = databaseFailure(driverError(error));
    // What is Unavailable already was refused by a rule of ours, not by the server.
    if (error instanceof Unavailable || !(failure instanceof Unavailable)) throw error;
    return failure;
  }
}

/** What the driver said, of an error in which TypeORM wraps it. TypeORM itself is not loaded for that. */
function driverError(error: unknown): unknown {
  return types.isNativeError(error) && 'driverError' in error ? error.driverError : error;
}
