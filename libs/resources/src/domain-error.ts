import { MAX_VIOLATIONS, shortened, type Violation, type Violations } from './violation';

/** Maximum length of the message of one error, in characters: it may be part of a log line or of a gRPC status. */
const MAX_MESSAGE_LENGTH = 4_000;

/** An expected failure. Each adapter maps it to its own status in one place. Any other error is a bug. */
export abstract class DomainError extends Error {
  abstract readonly type: 'NotFound' | 'Conflict' | 'Invalid' | 'Forbidden' | 'Unavailable';

  constructor(message: string, options?: ErrorOptions) {
    super(shortened(message, MAX_MESSAGE_LENGTH), options);
    this.name = new.target.name;
  }
}

/** The requested resource does not exist. */
export class NotFound extends DomainError {
  readonly type = 'NotFound';
}

/** The write was based on a state older than the stored one; the caller must read again and retry. */
export class Conflict extends DomainError {
  readonly type = 'Conflict';
}

/** The input breaks rules. `violations` has the first hundred, `total` the number of all. */
export class Invalid extends DomainError {
  readonly type = 'Invalid';
  readonly violations: readonly Violation[];
  readonly total: number;

  constructor(found: readonly Violation[] | Violations, options?: ErrorOptions) {
    const list = 'first' in found ? found.first : found;
    const total = 'first' in found ? found.total : found.length;
    super(formatViolations(list, total), options);
    this.violations = list.slice(0, MAX_VIOLATIONS);
    this.total = total;
  }
}

/** Formats as many violations as fit, and the number of the others. */
function formatViolations(violations: readonly Violation[], total: number): string {
  const parts: string[] = [];
  let length = 0;
  for (const { field, reason } of violations) {
    const part = field === '' ? reason : `${field}: ${reason}`;
    if (parts.length > 0 && length + part.length > MAX_MESSAGE_LENGTH) break;
    parts.push(shortened(part, MAX_MESSAGE_LENGTH));
    length += part.length + 2;
  }
  return total > parts.length ? [...parts, `and ${total - parts.length} more`].join('; ') : parts.join('; ');
}

/** The request is not allowed here; the message states where, or who may send it. */
export class Forbidden extends DomainError {
  readonly type = 'Forbidden';
}

/** A dependency of this process (database, peer, leadership) is not available; the same request may succeed later. */
export class Unavailable extends DomainError {
  readonly type = 'Unavailable';
}
