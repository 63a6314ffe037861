import { status, type handleUnaryCall } from '@grpc/grpc-js';
import { DomainError } from '@causeway/resources';
import { errorText, type Logger } from '@causeway/runtime';
import { Unauthenticated } from '../auth/unauthenticated';
import { decodeZoneHeaders, type ZoneHeaders } from '../wire/headers';

/** The status of a failure towards a zone. */
export function statusOf(error: unknown): status {
  if (!(error instanceof DomainError)) return status.INTERNAL;
  if (error instanceof Unauthenticated) return status.UNAUTHENTICATED;
  const codes = {
    NotFound: status.NOT_FOUND,
    Conflict: status.ABORTED,
    Invalid: status.INVALID_ARGUMENT,
    Forbidden: status.PERMISSION_DENIED,
    Unavailable: status.UNAVAILABLE,
  } as const;
  return codes[error.type];
}

/** Makes gRPC handlers of async functions; failures are logged and mapped once. */
export function unaryFor(logger: Logger) {
  return <Q, A>(answer: (request: Q, headers: ZoneHeaders) => Promise<A>): handleUnaryCall<Q, A> =>
    (call, callback) => {
      const headers = decodeZoneHeaders(call.metadata);
      answer(call.request, headers).then(
        (response) => callback(null, response),
        (error: unknown) => {
          logger.warn('a call of a zone failed', { zone: headers.zone, error: errorText(error) });
          callback({ code: statusOf(error), details: errorText(error) });
        },
      );
    };
}
