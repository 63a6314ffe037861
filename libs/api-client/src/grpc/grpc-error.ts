import { BadRequest, ErrorInfo, reasonOf, RetryInfo, RpcStatus } from '@causeway/proto-gen';
import { status, type ServiceError } from '@grpc/grpc-js';
import { ApiError, ConnectionError, type ApiErrorCode, type ApiViolation, type ConnectionProblem } from '../api-error';

const CODES: Readonly<Partial<Record<number, ApiErrorCode>>> = {
  [status.INVALID_ARGUMENT]: 'invalid',
  [status.UNAUTHENTICATED]: 'unauthenticated',
  [status.PERMISSION_DENIED]: 'forbidden',
  [status.NOT_FOUND]: 'not-found',
  [status.ABORTED]: 'conflict',
  [status.FAILED_PRECONDITION]: 'conflict',
  [status.RESOURCE_EXHAUSTED]: 'exhausted',
  [status.OUT_OF_RANGE]: 'watch-expired',
  [status.UNAVAILABLE]: 'unavailable',
  [status.CANCELLED]: 'unavailable',
  [status.DEADLINE_EXCEEDED]: 'unavailable',
};

/** Titles of the reasons in docs/reference/grpc.md, equal to those of REST. */
const TITLES: Readonly<Record<string, string>> = {
  UNAUTHENTICATED: 'Unauthorized',
  ACCESS_DENIED: 'Forbidden',
  RATE_LIMITED: 'Too many requests',
  LIMIT_EXCEEDED: 'Body too large',
  WATCH_EXPIRED: 'Gone',
  ETAG_MISMATCH: 'Precondition failed',
  IN_USE: 'Conflict',
  INVALID_REQUEST: 'Bad request',
  UNPARSABLE: 'Bad request',
  OVERLOADED: 'Unavailable',
  NOT_FOUND: 'Not found',
  CONFLICT: 'Conflict',
  INVALID_RESOURCE: 'Invalid resource',
  FORBIDDEN: 'Forbidden',
  UNAVAILABLE: 'Unavailable',
  INTERNAL: 'Internal error',
};

/** Returns the error of a failed call. */
export function toApiError(server: URL, error: unknown): ApiError {
  if (!isServiceError(error)) return new ApiError('internal', String(error), [], { cause: error });
  const [details] = error.metadata.get('grpc-status-details-bin');
  if (Buffer.isBuffer(details)) return statusToApiError(RpcStatus.decode(details), error);
  // Our servers send details with every error: without them the error comes from the transport.
  if (error.code === status.UNAVAILABLE) return new ConnectionError(server, classifyProblem(error.details), error);
  return statusToApiError(RpcStatus.fromPartial({ code: error.code, message: error.details }), error);
}

/** Classifies the transport's error text of a connection. */
function classifyProblem(text: string): ConnectionProblem {
  if (/self.signed certificate|unable to (verify|get local issuer)/i.test(text)) return 'unknown-authority';
  if (/altnames/.test(text)) return 'other-name';
  if (/certificate (has expired|is not yet valid)/.test(text)) return 'not-valid-now';
  return /wrong version number|packet length too long/.test(text) ? 'no-tls' : 'unreachable';
}

/** Returns the error of a google.rpc.Status. */
export function statusToApiError({ code, message, details }: RpcStatus, cause?: unknown): ApiError {
  const find = (type: string): Buffer | undefined => details.find(({ typeUrl }) => typeUrl.endsWith(type))?.value;
  const info = find('/google.rpc.ErrorInfo');
  const reason = info ? ErrorInfo.decode(info).reason : '';
  const request = find('/google.rpc.BadRequest');
  const violations = request ? BadRequest.decode(request).fieldViolations.map(toViolation) : [];
  const retry = find('/google.rpc.RetryInfo');
  const delay = retry && RetryInfo.decode(retry).retryDelay;
  const known = reason === 'ETAG_MISMATCH' ? 'precondition-failed' : (CODES[code] ?? 'internal');
  const title = known === 'unauthenticated' ? 'Unauthorized' : TITLES[reason];
  const count = `${violations.length} field${violations.length === 1 ? ' breaks a rule' : 's break rules'}`;
  return new ApiError(known, violations.length === 0 ? message : count, violations, {
    ...(title === undefined ? {} : { title }),
    retryAfter: delay && delay.seconds * 1_000 + Math.ceil(delay.nanos / 1e6),
    ...(cause === undefined ? {} : { cause }),
  });
}

function toViolation(found: BadRequest['fieldViolations'][number]): ApiViolation {
  return { field: found.field, reason: found.description, rule: reasonOf(found) };
}

function isServiceError(error: unknown): error is ServiceError {
  return error instanceof Error && 'code' in error && 'metadata' in error && 'details' in error;
}
