import { Unauthenticated } from '@causeway/access';
import { Metadata, status } from '@grpc/grpc-js';
import { DomainError, shortened } from '@causeway/resources';
import { errorText } from '@causeway/runtime';
import type { StreamEndReason } from '../session/peer-stream';
import type { ZoneHeaders } from '../wire/headers';
import { TooManyAttempts } from './attempt-limits';

/** Time after which a caller may retry, ms; the name is gRPC's. */
const RETRY_AFTER = 'grpc-retry-pushback-ms';

/** Longest text of a failure, characters: it travels in a header, whose size peers bound. */
const MAX_TEXT = 1_000;

const STATUS = {
  NotFound: status.NOT_FOUND,
  Conflict: status.ABORTED,
  Invalid: status.INVALID_ARGUMENT,
  Forbidden: status.PERMISSION_DENIED,
  Unavailable: status.UNAVAILABLE,
} as const;

const END_REASONS: Readonly<Partial<Record<status, StreamEndReason>>> = {
  [status.RESOURCE_EXHAUSTED]: 'exhausted',
  [status.INVALID_ARGUMENT]: 'malformed',
  [status.UNAUTHENTICATED]: 'unauthenticated',
  [status.PERMISSION_DENIED]: 'refused',
};

/** The gRPC status of a failure; the one place that maps failures. */
export function toStatus(error: unknown): status {
  if (!(error instanceof DomainError)) return status.INTERNAL;
  if (error instanceof TooManyAttempts) return status.RESOURCE_EXHAUSTED;
  return error instanceof Unauthenticated ? status.UNAUTHENTICATED : STATUS[error.type];
}

/** The reason with which a failure ends a stream. */
export function toEndReason(error: unknown): StreamEndReason {
  return END_REASONS[toStatus(error)] ?? 'unavailable';
}

/** When the caller may retry, as trailing metadata; undefined where the failure does not say. */
export function retryMetadata(error: unknown): Metadata | undefined {
  if (!(error instanceof TooManyAttempts)) return undefined;
  const metadata = new Metadata();
  metadata.set(RETRY_AFTER, String(error.retryAfter));
  return metadata;
}

/** The text of a failure as it is sent and logged. */
export function boundedErrorText(error: unknown): string {
  const text = errorText(error);
  return shortened(text, MAX_TEXT, `... (${text.length} characters)`);
}

/** The zone that a caller claims to be, as a log line can show it. */
export function printableZone({ zone }: ZoneHeaders): string {
  return shortened(zone.replace(/[^ -~]/g, '?'), 63);
}
