import { types } from 'node:util';
import { Unavailable } from '@causeway/resources';
import { DatabaseError } from 'pg';

/**
 * Classes and codes of Postgres that mean "not now": connections, also where it lets nobody in, resources, shutdown,
 * standby, timeouts, deadlocks.
 */
const TRANSIENT = /^(08|53|57|58|40|25006|55000|55P03|25P0[34])/;
/** What only a mistake of ours throws. */
const PROGRAMMING_ERRORS = ['TypeError', 'RangeError', 'ReferenceError', 'SyntaxError'];

/** What the store throws for a failure of the driver or the server: Unavailable where a later try may succeed. */
export function databaseFailure(error: unknown): unknown {
  if (error instanceof Unavailable) return error;
  if (error instanceof DatabaseError) {
    const passing = error.code !== undefined && TRANSIENT.test(error.code);
    return passing ? new Unavailable(`the database cannot serve now: ${error.message}`, { cause: error }) : error;
  }
  // Everything else that the driver throws is about the connection: sockets, time-outs, a pool that ends.
  if (!types.isNativeError(error) || PROGRAMMING_ERRORS.includes(error.name)) return error;
  return new Unavailable(`the database is away: ${reasonOf(error)}`, { cause: error });
}

/** The message of an error, or of the first of several that were tried one after the other. */
export function reasonOf(error: unknown): string {
  if (!types.isNativeError(error)) return String(error);
  const first: unknown = 'errors' in error && Array.isArray(error.errors) ? error.errors[0] : undefined;
  return types.isNativeError(first) ? first.message : error.message;
}
