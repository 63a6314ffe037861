import { BadRequest, ErrorInfo, RpcStatus } from '@causeway/proto-gen';
import { status, type ServiceError } from '@grpc/grpc-js';
import { ApiError, type ApiErrorCode } from '../api-client';

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

/** The error of a call. */
export function apiErrorOf(error: unknown): ApiError {
  if (!isServiceError(error)) return new ApiError('internal', String(error), [], { cause: error });
  const [details] = error.metadata.get('grpc-status-details-bin');
  const full = Buffer.isBuffer(details) ? RpcStatus.decode(details) : undefined;
  return errorOfStatus(full ?? RpcStatus.fromPartial({ code: error.code, message: error.details }), error);
}

/** The error of a google.rpc.Status. */
export function errorOfStatus({ code, message, details }: RpcStatus, cause?: unknown): ApiError {
  const find = (type: string): Buffer | undefined => details.find(({ typeUrl }) => typeUrl.endsWith(type))?.value;
  const info = find('/google.rpc.ErrorInfo');
  const reason = info ? ErrorInfo.decode(info).reason : '';
  const request = find('/google.rpc.BadRequest');
  const violations = request
    ? BadRequest.decode(request).fieldViolations.map(({ field, description }) => ({ field, reason: description }))
    : [];
  const known = reason === 'ETAG_MISMATCH' ? 'precondition-failed' : (CODES[code] ?? 'internal');
  return new ApiError(known, message, violations, cause === undefined ? undefined : { cause });
}

function isServiceError(error: unknown): error is ServiceError {
  return error instanceof Error && 'code' in error && 'metadata' in error && 'details' in error;
}
