import { Invalid, shortened, Unavailable, type Violation } from '@causeway/resources';

/**
 * The query itself is invalid, independent of stored resources. `message` is complete in itself; `violations` lists the invalid parameters, if single
 * ones are at fault.
 */
export class InvalidQuery extends Invalid {
  constructor(message: string, violations: readonly Violation[] = []) {
    super(violations);
    this.message = message;
  }
}

/** A watch cannot resume from its revision; the client must list again and watch from the revision of that list. */
export class WatchExpired extends Error {
  constructor(why: string) {
    super(`This watch cannot go on: ${why}. List again and watch from the revision of that list.`);
    this.name = 'WatchExpired';
  }
}

/** Too many expensive queries run and wait; the query may succeed once some of them end. */
export class Overloaded extends Unavailable {}

/** Returns a part of a query for an error message: its first 200 characters. */
export function shown(text: string): string {
  return shortened(text, 201, '…');
}
