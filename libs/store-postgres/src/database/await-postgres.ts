import { Unavailable } from '@causeway/resources';
import { Backoff, type Clock, type Logger } from '@causeway/runtime';
import { Client, DatabaseError } from 'pg';
import { reasonOf } from './database-failure';

export interface AwaitOptions {
  readonly url: string;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Longest wait, ms. */
  readonly timeout: number;
  readonly signal: AbortSignal;
}

/** Codes that no waiting mends: wrong password or user, no such database, no permission. */
const PERMANENT = /^(28|3D|42)/;

/**
 * Waits until the database answers, saying once where and why it waits. Throws Unavailable with one line when the time
 * is over, the signal aborts, or waiting cannot help.
 */
export async function awaitPostgres(options: AwaitOptions): Promise<void> {
  const { clock, logger, signal } = options;
  const where = describeAddress(options.url);
  const until = clock.now() + options.timeout;
  const backoff = new Backoff({ base: 100, cap: 1_000 });
  for (let tries = 0; ; tries++) {
    const failure = await tryOnce(options.url);
    if (failure === undefined) return;
    const line = `Postgres at ${where}: ${reasonOf(failure)}`;
    if (failure instanceof DatabaseError && PERMANENT.test(failure.code ?? ''))
      throw new Unavailable(line, { cause: failure });
    if (clock.now() >= until || signal.aborted)
      throw new Unavailable(`gave up waiting for ${line}`, { cause: failure });
    if (tries === 0) logger.warn(`waiting for ${line}`);
    await clock.sleep(backoff.next(), signal);
  }
}

/** Host, port and database of a URL; never its password. */
export function describeAddress(url: string): string {
  if (!URL.canParse(url)) return 'an address that is no URL';
  const { hostname, port, pathname } = new URL(url);
  return `${hostname}:${port || '5432'}${pathname}`;
}

/** What went wrong, undefined when nothing did. */
async function tryOnce(url: string): Promise<unknown> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 5_000, query_timeout: 5_000 });
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
