import { Unauthenticated } from '@causeway/access';
import { Metadata, status } from '@grpc/grpc-js';
import { DomainError, shortened } from '@causeway/resources';
import { errorText } from '@causeway/runtime';
import type { StreamEndReason } from '../session/peer-stream';
import type { ZoneHeaders } from '../wire/headers';
import { TooManyAttempts } from './attempt-limits';

/** Trailing metadata key of the time after which a caller may retry, ms; gRPC defines the name. */
const RETRY_AFTER = 'grpc-retry-pushback-ms';

/** Maximum length of a failure's text, characters: it is sent in a header, and peers limit the size of headers. */
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

/** Returns the gRPC status of a failure; the only place that maps failures. */
export function toStatus(error: unknown): status {
  if (!(error instanceof DomainError)) return status.INTERNAL;
  if (error instanceof TooManyAttempts) return status.RESOURCE_EXHAUSTED;
  return error instanceof Unauthenticated ? status.UNAUTHENTICATED : STATUS[error.type];
}

/** The reason with which a failure ends a stream. */
export function toEndReason(error: unknown): StreamEndReason {
  return END_REASONS[toStatus(error)] ?? 'unavailable';
}

/** Returns the retry delay as trailing metadata; undefined if the failure names none. */
export function retryMetadata(error: unknown): Metadata | undefined {
  if (!(error instanceof TooManyAttempts)) return undefined;
  const metadata = new Metadata();
  metadata.set(RETRY_AFTER, String(error.retryAfter));
  return metadata;
}

/** Returns the text of a failure, bounded, for the peer and the log. */
export function boundedErrorText(error: unknown): string {
  const text = errorText(error);
  return shortened(text, MAX_TEXT, `... (${text.length} characters)`);
}

/** Returns the zone that a caller claims to be, in a form that is safe to log. */
export function printableZone({ zone }: ZoneHeaders): string {
  return shortened(zone.replace(/[^ -~]/g, '?'), 63);
}
