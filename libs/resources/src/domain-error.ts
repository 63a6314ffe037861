import type { Violation } from './violation';

/** The failures that the product speaks of; adapters map each to their own status once. Anything else thrown is a bug. */
export abstract class DomainError extends Error {
  abstract readonly type: 'NotFound' | 'Conflict' | 'Invalid' | 'Forbidden' | 'Unavailable';

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
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

/** The input breaks rules; all of them are listed. */
export class Invalid extends DomainError {
  readonly type = 'Invalid';

  constructor(
    readonly violations: readonly Violation[],
    options?: ErrorOptions,
  ) {
    super(violations.map((v) => (v.field === '' ? v.reason : `${v.field}: ${v.reason}`)).join('; '), options);
  }
}

/** The request is understood and not allowed here; the message says where or by whom it is. */
export class Forbidden extends DomainError {
  readonly type = 'Forbidden';
}

/** Something this process needs (database, peer, leadership) is away; the same request may succeed later. */
export class Unavailable extends DomainError {
  readonly type = 'Unavailable';
}
