import { Unavailable } from '@causeway/resources';
import { DatabaseError } from 'pg';

/** Classes and codes of Postgres that mean "not now": connections, resources, shutdown, standby, timeouts, deadlocks. */
const NOT_NOW = /^(08|53|57|58|40|25006|55P03|25P0[34])/;

/** What the store throws for a failure of the driver or the server: Unavailable where a later try may succeed. */
export function databaseFailure(error: unknown): unknown {
  if (error instanceof Unavailable) return error;
  if (error instanceof DatabaseError) {
    const passing = error.code !== undefined && NOT_NOW.test(error.code);
    return passing ? new Unavailable(`the database cannot serve now: ${error.message}`, { cause: error }) : error;
  }
  // Everything else that the driver throws is about the connection: sockets, time-outs, a pool that ends.
  if (error instanceof Error) return new Unavailable(`the database is away: ${reasonOf(error)}`, { cause: error });
  return error;
}

/** The message of an error, or of the first of several that were tried one after the other. */
export function reasonOf(error: Error): string {
  if (error instanceof AggregateError && error.errors[0] instanceof Error) return error.errors[0].message;
  return error.message;
}
