import { types } from 'node:util';
import { Unavailable } from '@causeway/resources';
import { DatabaseError } from 'pg';
import { QueryFailedError, QueryRunnerAlreadyReleasedError, TypeORMError } from 'typeorm';

/**
 * Classes and codes of Postgres that a retry may overcome: connections, also if the server refuses everybody,
 * resources, shutdown, standby, timeouts, deadlocks.
 */
const TRANSIENT = /^(08|53|57|58|40|25006|55000|55P03|25P0[34])/;
/** Errors that only a mistake in this program throws. */
const PROGRAMMING_ERRORS = ['TypeError', 'RangeError', 'ReferenceError', 'SyntaxError'];

/**
 * Returns the error that the store throws for a failure of TypeORM, the driver or the server: Unavailable if a retry
 * may succeed, else the driver's error. TypeORM's QueryFailedError is unwrapped: it holds the parameters, which no log
 * may show.
 */
export function databaseFailure(thrown: unknown): unknown {
  const error: unknown = thrown instanceof QueryFailedError ? thrown.driverError : thrown;
  if (error instanceof Unavailable) return error;
  // TypeORM releases a query runner whose connection broke; its other errors are mistakes in this program.
  if (error instanceof TypeORMError && !(error instanceof QueryRunnerAlreadyReleasedError)) return error;
  if (error instanceof DatabaseError) {
    const transient = error.code !== undefined && TRANSIENT.test(error.code);
    return transient ? new Unavailable(`the database cannot serve now: ${error.message}`, { cause: error }) : error;
  }
  // Everything else that TypeORM and the driver throw is about the connection: sockets, time-outs, a pool that ends.
  if (!types.isNativeError(error) || PROGRAMMING_ERRORS.includes(error.name)) return error;
  return new Unavailable(`the database is away: ${describeFailure(error)}`, { cause: error });
}

/** The message of an error, or of the first of several that were tried one after the other. */
export function describeFailure(error: unknown): string {
  if (!types.isNativeError(error)) return String(error);
  const first: unknown = 'errors' in error && Array.isArray(error.errors) ? error.errors[0] : undefined;
  return types.isNativeError(first) ? first.message : error.message;
}
