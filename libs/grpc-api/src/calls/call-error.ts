import { randomUUID } from 'node:crypto';
import { AccessDenied, RateLimited, Unauthenticated } from '@causeway/access';
import { InUse, PreconditionFailed } from '@causeway/admission';
import { Unparsable } from '@causeway/yaml';
import {
  Any,
  BadRequest,
  ErrorInfo,
  fieldViolation,
  PreconditionFailure,
  reasonOf,
  RetryInfo,
  RpcStatus,
} from '@causeway/proto-gen';
import { InvalidQuery, Overloaded, WatchExpired } from '@causeway/queries';
import { DomainError, Invalid, shortened } from '@causeway/resources';
import { errorText, type Logger } from '@causeway/runtime';
import { Metadata, status } from '@grpc/grpc-js';

/** The domain of every ErrorInfo: reasons are unique in it. */
const DOMAIN = 'causeway.v1';

/** Maximum length of an error text, in characters: it is also sent in a header. */
const MAX_TEXT = 1_000;

/** Maximum bytes of violations in a trailer: clients in C refuse headers above 16 KiB, and base64 adds a third. */
const MAX_TRAILER_VIOLATIONS = 6_000;

/** Reason and code of an error. The names of reasons are part of the API (docs/reference/grpc.md). */
interface Classified {
  readonly code: status;
  readonly reason: string;
}

const BY_TYPE: Readonly<Record<DomainError['type'], Classified>> = {
  NotFound: { code: status.NOT_FOUND, reason: 'NOT_FOUND' },
  Conflict: { code: status.ABORTED, reason: 'CONFLICT' },
  Invalid: { code: status.INVALID_ARGUMENT, reason: 'INVALID_RESOURCE' },
  Forbidden: { code: status.PERMISSION_DENIED, reason: 'FORBIDDEN' },
  Unavailable: { code: status.UNAVAILABLE, reason: 'UNAVAILABLE' },
};

/** The transport refuses the request: too large, or too many at once. */
export class ExhaustedError extends Error {}

/** The call is ended because its client does not read. */
export class SlowReaderError extends Error {}

function classified(error: unknown): Classified | undefined {
  if (error instanceof Unauthenticated) return { code: status.UNAUTHENTICATED, reason: 'UNAUTHENTICATED' };
  if (error instanceof AccessDenied) {
    const code = error.caller.by === 'nothing' ? status.UNAUTHENTICATED : status.PERMISSION_DENIED;
    return { code, reason: 'ACCESS_DENIED' };
  }
  if (error instanceof RateLimited) return { code: status.RESOURCE_EXHAUSTED, reason: 'RATE_LIMITED' };
  if (error instanceof ExhaustedError) return { code: status.RESOURCE_EXHAUSTED, reason: 'LIMIT_EXCEEDED' };
  if (error instanceof SlowReaderError) return { code: status.RESOURCE_EXHAUSTED, reason: 'SLOW_READER' };
  if (error instanceof WatchExpired) return { code: status.OUT_OF_RANGE, reason: 'WATCH_EXPIRED' };
  if (error instanceof PreconditionFailed) return { code: status.FAILED_PRECONDITION, reason: 'ETAG_MISMATCH' };
  if (error instanceof InUse) return { code: status.FAILED_PRECONDITION, reason: 'IN_USE' };
  if (error instanceof InvalidQuery) return { code: status.INVALID_ARGUMENT, reason: 'INVALID_REQUEST' };
  if (error instanceof Unparsable) return { code: status.INVALID_ARGUMENT, reason: 'UNPARSABLE' };
  if (error instanceof Overloaded) return { code: status.UNAVAILABLE, reason: 'OVERLOADED' };
  return error instanceof DomainError ? BY_TYPE[error.type] : undefined;
}

/**
 * Maps an error to a google.rpc.Status with details; the only place that does. An unexpected error becomes INTERNAL
 * without internal details; `logger` gets its stack under the instance that the ErrorInfo names.
 */
export function toRpcStatus(error: unknown, logger: Logger): RpcStatus {
  const known = classified(error);
  if (!known) return internal(error, logger);
  const { code, reason } = known;
  const message = shortened(errorText(error), MAX_TEXT, '…');
  const info = ErrorInfo.encode(ErrorInfo.fromPartial({ reason, domain: DOMAIN })).finish();
  return RpcStatus.fromPartial({
    code,
    message,
    details: [any('google.rpc.ErrorInfo', info), ...furtherDetails(error, reason)],
  });
}

/** Returns an error in the form that ends a call: details are in `grpc-status-details-bin`, as far as the size of headers allows. */
export function toCallError(
  error: unknown,
  logger: Logger,
): { readonly code: status; readonly details: string; readonly metadata: Metadata } {
  const full = toRpcStatus(error, logger);
  const metadata = new Metadata();
  metadata.set('grpc-status-details-bin', Buffer.from(RpcStatus.encode(shortenedForTrailer(full)).finish()));
  return { code: full.code, details: full.message, metadata };
}

function furtherDetails(error: unknown, reason: string): Any[] {
  if (error instanceof Invalid && error.violations.length > 0) {
    const fieldViolations = error.violations.map(({ field, reason, rule }) => fieldViolation(field, reason, rule));
    return [any('google.rpc.BadRequest', BadRequest.encode({ fieldViolations }).finish())];
  }
  if (error instanceof PreconditionFailed || error instanceof InUse) {
    const violation = { type: reason, subject: '', description: shortened(error.message, MAX_TEXT, '…') };
    const failure = PreconditionFailure.fromPartial({ violations: [violation] });
    return [any('google.rpc.PreconditionFailure', PreconditionFailure.encode(failure).finish())];
  }
  const ms = error instanceof RateLimited ? error.retryAfter : error instanceof Overloaded ? 1_000 : undefined;
  if (ms === undefined) return [];
  const retryDelay = { seconds: Math.floor(ms / 1_000), nanos: (ms % 1_000) * 1_000_000 };
  return [any('google.rpc.RetryInfo', RetryInfo.encode(RetryInfo.fromPartial({ retryDelay })).finish())];
}

/** Cuts the violations to the size of a trailer; the message has their total. */
function shortenedForTrailer(full: RpcStatus): RpcStatus {
  const details = full.details.map((detail) => {
    if (detail.value.length <= MAX_TRAILER_VIOLATIONS || !detail.typeUrl.endsWith('.BadRequest')) return detail;
    let left = MAX_TRAILER_VIOLATIONS;
    const { fieldViolations } = BadRequest.decode(detail.value);
    const fitting = fieldViolations.filter((violation) => {
      const texts = [violation.field, violation.description, reasonOf(violation)];
      return (left -= texts.reduce((sum, text) => sum + Buffer.byteLength(text), 10)) >= 0;
    });
    const bytes = BadRequest.encode({ fieldViolations: fitting }).finish();
    return any('google.rpc.BadRequest', bytes);
  });
  return { ...full, details };
}

function internal(error: unknown, logger: Logger): RpcStatus {
  const instance = `urn:uuid:${randomUUID()}`;
  logger.error('a gRPC call failed unexpectedly', {
    instance,
    error: error instanceof Error ? (error.stack ?? error.message) : String(error),
  });
  const info = ErrorInfo.fromPartial({ reason: 'INTERNAL', domain: DOMAIN, metadata: { instance } });
  return RpcStatus.fromPartial({
    code: status.INTERNAL,
    message: 'Something went wrong here; the log has it under the instance in the details.',
    details: [any('google.rpc.ErrorInfo', ErrorInfo.encode(info).finish())],
  });
}

function any(type: string, value: Uint8Array): Any {
  return Any.fromPartial({ typeUrl: `type.googleapis.com/${type}`, value: Buffer.from(value) });
}
