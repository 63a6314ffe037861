import { escapedLine } from '@causeway/resources';

/** Code of an error, the same for both interfaces. */
export type ApiErrorCode =
  | 'invalid'
  | 'unauthenticated'
  | 'forbidden'
  | 'not-found'
  | 'conflict'
  | 'precondition-failed'
  | 'exhausted'
  | 'watch-expired'
  | 'unavailable'
  | 'rest-only'
  | 'internal';

/** One broken rule: the field, and what is wrong with which value. */
export interface ApiViolation {
  /** As users write it: `spec.ports[0].port`. */
  readonly field: string;
  readonly reason: string;
  /** The code of the rule, as in docs/reference/api.md, Errors; empty where an older server names none. */
  readonly rule: string;
}

/** A refusal of the server, each of its texts in one printable line, or a server that cannot be reached (`ConnectionError`, with the code `unavailable`). */
export class ApiError extends Error {
  /** Class of the refusal, for people, such as `Not found`; may be empty. */
  readonly title: string;
  readonly violations: readonly ApiViolation[];
  /** Until the server takes the request again, ms; absent where it does not say. REST rounds up to whole seconds. */
  readonly retryAfter?: number;

  constructor(
    readonly code: ApiErrorCode,
    message: string,
    violations: readonly ApiViolation[] = [],
    options: ErrorOptions & { readonly title?: string; readonly retryAfter?: number | undefined } = {},
  ) {
    super(escapedLine(message), options);
    this.name = 'ApiError';
    this.title = escapedLine(options.title ?? '');
    this.violations = violations.map(({ field, reason, rule }) => ({
      field: escapedLine(field),
      reason: escapedLine(reason),
      rule,
    }));
    if (options.retryAfter !== undefined) this.retryAfter = options.retryAfter;
  }
}

/** Why there is no connection. */
export type ConnectionProblem =
  'unreachable' | 'not-allowed' | 'not-http' | 'no-tls' | 'unknown-authority' | 'other-name' | 'not-valid-now';

/** A server that was not reached. */
export class ConnectionError extends ApiError {
  constructor(
    readonly server: URL,
    readonly problem: ConnectionProblem,
    cause: unknown,
  ) {
    super('unavailable', `${server.href}: ${cause instanceof Error ? cause.message : String(cause)}`, [], { cause });
  }
}
