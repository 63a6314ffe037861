import { Metadata, status, type handleUnaryCall } from '@grpc/grpc-js';
import { DomainError, shortened } from '@causeway/resources';
import { errorText } from '@causeway/runtime';
import { Unauthenticated } from '@causeway/access';
import { decodeZoneHeaders, type ZoneHeaders } from '../wire/headers';
import { addressOf, TooManyAttempts } from './connection-limits';
import type { RefusalLog } from '../session/rate-limited-logger';

/** When a caller may come again, ms; gRPC's own name for it. */
const RETRY_AFTER = 'grpc-retry-pushback-ms';

/** Longest text of a failure: it travels in a header, whose size peers bound. */
const LONGEST = 1_000;

/** What a log line can show of whom a caller says to be. */
export function printableZone({ zone }: ZoneHeaders): string {
  return shortened(zone.replace(/[^ -~]/g, '?'), 63);
}

/** The text of a failure as it is sent and logged. */
export function boundedErrorText(error: unknown): string {
  const text = errorText(error);
  return shortened(text, LONGEST, `... (${text.length} characters)`);
}

/** The status of a failure towards a zone. */
export function grpcStatusOf(error: unknown): status {
  if (!(error instanceof DomainError)) return status.INTERNAL;
  if (error instanceof TooManyAttempts) return status.RESOURCE_EXHAUSTED;
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
export function unaryHandlers(log: RefusalLog) {
  return <Q, A>(answer: (request: Q, headers: ZoneHeaders, address: string) => Promise<A>): handleUnaryCall<Q, A> =>
    (call, callback) => {
      const headers = decodeZoneHeaders(call.metadata);
      const address = addressOf(call.getPeer());
      answer(call.request, headers, address).then(
        (response) => callback(null, response),
        (error: unknown) => {
          const zone = printableZone(headers);
          const details = boundedErrorText(error);
          log.warn(`${zone} ${address}`, 'a call of a zone failed', { zone, address, error: details });
          callback({ code: grpcStatusOf(error), details, ...(error instanceof TooManyAttempts ? hintOf(error) : {}) });
        },
      );
    };
}

function hintOf({ retryAfter }: TooManyAttempts): { readonly metadata: Metadata } {
  const metadata = new Metadata();
  metadata.set(RETRY_AFTER, String(retryAfter));
  return { metadata };
}
