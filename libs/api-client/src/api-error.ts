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
  /** In the users' syntax: `spec.ports[0].port`. */
  readonly field: string;
  readonly reason: string;
  /** The code of the rule, see docs/reference/api.md, Errors; empty if an older server sends none. */
  readonly rule: string;
}

/** A refusal of the server, each of its texts in one printable line; or a connection failure (`ConnectionError`, with the code `unavailable`). */
export class ApiError extends Error {
  /** Class of the refusal, for people, such as `Not found`; may be empty. */
  readonly title: string;
  readonly violations: readonly ApiViolation[];
  /** The time after which the server accepts the request again, ms; absent if unknown. REST rounds up to whole seconds. */
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

/** The reason of a connection failure. */
export type ConnectionProblem =
  | 'unreachable'
  | 'not-allowed'
  | 'not-http'
  | 'ended-early'
  | 'no-tls'
  | 'unknown-authority'
  | 'other-name'
  | 'not-valid-now';

/** A connection failure. */
export class ConnectionError extends ApiError {
  constructor(
    readonly server: URL,
    readonly problem: ConnectionProblem,
    cause: unknown,
  ) {
    super('unavailable', `${server.href}: ${cause instanceof Error ? cause.message : String(cause)}`, [], { cause });
  }
}
