import { Unavailable } from '@causeway/resources';
import { Backoff, type Clock, type Logger } from '@causeway/runtime';
import { DatabaseError } from 'pg';
import type { DatabaseServers } from '../servers/database-servers';
import { databaseFailure, describeFailure } from './database-failure';

export interface ReadyOptions {
  readonly servers: DatabaseServers;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Timeout, ms. */
  readonly timeout: number;
  readonly signal: AbortSignal;
}

/** The database must not be used as it is; the message says what to do. No later try helps. */
export class DatabaseRefused extends Unavailable {}

/** Codes that no waiting fixes: wrong password or user, no such database, no permission. */
const PERMANENT = /^(28|3D|42)/;
/** Timeout of one answer, ms. */
const ANSWER_TIMEOUT = 5_000;

/**
 * Waits until the database answers and then does `prepare`; begins anew when the database goes away in between. Throws
 * Unavailable with one line when the time is over, the signal aborts, or waiting cannot help.
 */
export async function readyDatabase(options: ReadyOptions, prepare: () => Promise<void>): Promise<void> {
  const { clock, logger, signal, timeout } = options;
  const until = clock.now() + timeout;
  const backoff = new Backoff({ base: 100, cap: 1_000 });
  for (;;) {
    await awaitAnswer({ ...options, timeout: until - clock.now() });
    const failure = await transientFailure(prepare);
    if (failure === undefined) return;
    if (clock.now() >= until || signal.aborted) throw failure;
    logger.warn(`Postgres at ${options.servers.address} went away during the start, trying again: ${failure.message}`);
    await clock.sleep(backoff.next(), signal);
  }
}

/** Waits for an answer, and logs once the server and the reason of the wait. */
async function awaitAnswer(options: ReadyOptions): Promise<void> {
  const { clock, logger, signal } = options;
  const until = clock.now() + options.timeout;
  const backoff = new Backoff({ base: 100, cap: 1_000 });
  for (let tries = 0; ; tries++) {
    const failure = await tryOnce(options.servers);
    if (failure === undefined) return;
    const line = `Postgres at ${options.servers.address}: ${describeFailure(failure)}`;
    if (failure instanceof DatabaseError && PERMANENT.test(failure.code ?? ''))
      throw new Unavailable(line, { cause: failure });
    if (clock.now() >= until || signal.aborted)
      throw new Unavailable(`gave up waiting for ${line}`, { cause: failure });
    if (tries === 0) logger.warn(`waiting for ${line}`);
    await clock.sleep(backoff.next(), signal);
  }
}

/** The failure of one connection and statement; undefined when the database answered. */
async function tryOnce(servers: DatabaseServers): Promise<unknown> {
  const client = servers.client({ connectionTimeoutMillis: ANSWER_TIMEOUT, query_timeout: ANSWER_TIMEOUT });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query('SELECT 1');
    return undefined;
  } catch (error) {
    return error;
  } finally {
    await client.end().catch(() => undefined);
  }
}

/**
 * Returns why the database could not do the work now; undefined if it did. Rejects with errors that no retry would
 * overcome.
 */
async function transientFailure(work: () => Promise<void>): Promise<Unavailable | undefined> {
  try {
    await work();
    return undefined;
  } catch (error) {
    const failure = databaseFailure(error);
    if (failure instanceof DatabaseRefused || !(failure instanceof Unavailable)) throw failure;
    return failure;
  }
}
