import { shortened, type Violation } from './violation';
import { MOST_VIOLATIONS, type Violations } from './violations';

/** Longest message of one error, in characters: it may stand in a log line or in the status of a call. */
const LONGEST_MESSAGE = 4_000;

/** The failures that the product speaks of; adapters map each to their own status once. Anything else thrown is a bug. */
export abstract class DomainError extends Error {
  abstract readonly type: 'NotFound' | 'Conflict' | 'Invalid' | 'Forbidden' | 'Unavailable';

  constructor(message: string, options?: ErrorOptions) {
    super(shortened(message, LONGEST_MESSAGE), options);
    this.name = new.target.name;
  }
}

/** What was asked for does not exist. */
export class NotFound extends DomainError {
  readonly type = 'NotFound';
}

/** The write was made from an older state than the stored one; read again and retry. */
export class Conflict extends DomainError {
  readonly type = 'Conflict';
}

/** The input breaks rules: the first hundred violations are listed, `total` says how many there are in all. */
export class Invalid extends DomainError {
  readonly type = 'Invalid';
  readonly violations: readonly Violation[];
  readonly total: number;

  constructor(found: readonly Violation[] | Violations, options?: ErrorOptions) {
    const list = 'first' in found ? found.first : found;
    const total = 'first' in found ? found.total : found.length;
    super(messageOf(list, total), options);
    this.violations = list.slice(0, MOST_VIOLATIONS);
    this.total = total;
  }
}

/** As many violations as fit, then how many more there are. */
function messageOf(violations: readonly Violation[], total: number): string {
  const parts: string[] = [];
  let length = 0;
  for (const { field, reason } of violations) {
    const part = field === '' ? reason : `${field}: ${reason}`;
    if (parts.length > 0 && length + part.length > LONGEST_MESSAGE) break;
    parts.push(shortened(part, LONGEST_MESSAGE));
    length += part.length + 2;
  }
  return total > parts.length ? [...parts, `and ${total - parts.length} more`].join('; ') : parts.join('; ');
}

/** The request is understood and not allowed here; the message says where or by whom it is. */
export class Forbidden extends DomainError {
  readonly type = 'Forbidden';
}

/** Something this process needs (database, peer, leadership) is away; the same request may succeed later. */
export class Unavailable extends DomainError {
  readonly type = 'Unavailable';
}
