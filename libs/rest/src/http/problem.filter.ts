import { randomUUID } from 'node:crypto';
import { Catch, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import { AccessDenied, RateLimited, Unauthenticated } from '@causeway/access';
import { PreconditionFailed } from '@causeway/admission';
import { Unparsable } from '@causeway/yaml';
import { InvalidQuery, Overloaded, WatchExpired } from '@causeway/queries';
import { DomainError, Invalid, type Violation } from '@causeway/resources';
import type { Logger } from '@causeway/runtime';
import type { FastifyReply } from 'fastify';
import type { RequestAudit } from './request-audit';
import { HttpError, truncated, unparsableDetail } from './http-error';

/** Maximum length of a text in a problem, in characters. */
const MAX_TEXT = 1_000;

export const PROBLEM_TYPE = 'application/problem+json; charset=utf-8';

/** The body of every error response: RFC 9457, with Kuma's `invalid_parameters` (docs/reference/kuma-rest.md §2.7). */
export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly instance: string;
  readonly invalid_parameters?: readonly Violation[];
}

/** A problem with the headers of its response. */
export interface ProblemWithHeaders {
  readonly problem: Problem;
  readonly headers: Readonly<Record<string, string>>;
}

const TITLES: Readonly<Record<number, string>> = {
  400: 'Bad request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not found',
  405: 'Method not allowed',
  406: 'Not acceptable',
  408: 'Request timeout',
  409: 'Conflict',
  410: 'Gone',
  412: 'Precondition failed',
  413: 'Body too large',
  414: 'Path too long',
  415: 'Unsupported media type',
  422: 'Invalid resource',
  429: 'Too many requests',
  431: 'Headers too large',
  500: 'Internal error',
  503: 'Unavailable',
};

/** Challenge that asks for credentials (RFC 6750). */
const CHALLENGE = 'Bearer realm="causeway"';
const SEND_TOKEN = 'send the header "Authorization: Bearer" with a user token or the operator token';

/** Methods that write resources; a POST is a query, or another action. */
const WRITE_METHODS: readonly string[] = ['PUT', 'PATCH', 'DELETE'];

const STATUS_OF: Readonly<Record<DomainError['type'], number>> = {
  NotFound: 404,
  Conflict: 409,
  Invalid: 422,
  Forbidden: 403,
  Unavailable: 503,
};

/**
 * Converts any error to a problem document; the only such mapping (docs/design.md §6). `instance` identifies this
 * occurrence in the log. `method` is that of the request: only for writes the detail adds that nothing was written. An
 * unexpected error becomes a 500 without internal details.
 */
export function toProblem(error: unknown, instance: string, method = ''): ProblemWithHeaders {
  const make = (status: number, detail: string, violations: readonly Violation[] = []): Problem => ({
    type: '/std-errors',
    title: TITLES[status] ?? 'Error',
    status,
    detail,
    instance,
    ...(violations.length > 0 ? { invalid_parameters: violations } : {}),
  });
  if (error instanceof HttpError) {
    return { problem: make(error.status, error.message, error.violations), headers: error.headers };
  }
  if (error instanceof Unparsable) return { problem: make(400, unparsableDetail(error)), headers: {} };
  if (error instanceof InvalidQuery) return { problem: make(400, error.message, error.violations), headers: {} };
  if (error instanceof WatchExpired) return { problem: make(410, error.message), headers: {} };
  if (error instanceof Overloaded) return { problem: make(503, error.message), headers: { 'retry-after': '1' } };
  if (error instanceof Invalid) {
    const { total, violations } = error;
    const broken = `${total} field${total === 1 ? ' breaks a rule' : 's break rules'}`;
    const shown = total > violations.length ? `; the first ${violations.length} are listed` : '';
    const writes = WRITE_METHODS.includes(method);
    const problem = make(422, `${broken}${writes ? '; nothing was written' : ''}${shown}`, violations);
    return { problem: writes ? problem : { ...problem, title: 'Invalid request' }, headers: {} };
  }
  if (error instanceof PreconditionFailed) return { problem: make(412, error.message), headers: {} };
  if (error instanceof Unauthenticated)
    return {
      problem: make(401, error.message),
      headers: { 'www-authenticate': `${CHALLENGE}, error="invalid_token"` },
    };
  if (error instanceof AccessDenied && error.caller.by === 'nothing')
    return { problem: make(401, `${error.message}; ${SEND_TOKEN}`), headers: { 'www-authenticate': CHALLENGE } };
  if (error instanceof RateLimited) {
    const headers = { 'retry-after': String(Math.ceil(error.retryAfter / 1_000)) };
    return { problem: make(429, error.message), headers };
  }
  if (error instanceof DomainError) return { problem: make(STATUS_OF[error.type], error.message), headers: {} };
  const status = frameworkStatus(error);
  if (status !== undefined && error instanceof Error) return { problem: make(status, error.message), headers: {} };
  return { problem: make(500, 'Something went wrong here; the log has it under this instance.'), headers: {} };
}

/** Returns the 4xx status that Fastify or Nest put on their own errors. */
function frameworkStatus(error: unknown): number | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  const status: unknown = 'statusCode' in error ? error.statusCode : 'status' in error ? error.status : undefined;
  return typeof status === 'number' && status >= 400 && status < 500 ? status : undefined;
}

/** Returns a unique name for one occurrence of a problem. */
export function newInstance(): string {
  return `urn:uuid:${randomUUID()}`;
}

/** Returns the body of a problem response; long texts, such as names in a path, are shortened. */
export function problemJson(problem: Problem): string {
  return JSON.stringify(problem, (_, value: unknown) =>
    typeof value === 'string' ? truncated(value, MAX_TEXT) : value,
  );
}

/** Converts every thrown error to a response, the only place that does; logs unexpected errors with their stack. */
@Catch()
export class ProblemFilter implements ExceptionFilter {
  constructor(
    private readonly logger: Logger,
    private readonly audit: RequestAudit,
  ) {}

  catch(error: unknown, host: ArgumentsHost): void {
    const reply = host.switchToHttp().getResponse<FastifyReply>();
    if (reply.sent || reply.raw.headersSent) return;
    const { problem, headers } = toProblem(error, newInstance(), reply.request.method);
    this.audit.refused(reply.request, problem.status, error);
    if (problem.status === 500) {
      this.logger.error('a request failed unexpectedly', {
        instance: problem.instance,
        error: error instanceof Error ? (error.stack ?? error.message) : String(error),
      });
    }
    void reply
      .code(problem.status)
      .headers({ 'content-type': PROBLEM_TYPE, ...headers })
      .send(problemJson(problem));
  }
}
