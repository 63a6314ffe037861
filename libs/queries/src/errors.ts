import { Invalid, shortened, Unavailable, type Violation } from '@causeway/resources';

/**
 * The query itself cannot be understood or answered, whatever is stored. `message` stands alone; `violations` lists
 * the parameters that are wrong, where single ones are.
 */
export class InvalidQuery extends Invalid {
  constructor(message: string, violations: readonly Violation[] = []) {
    super(violations);
    this.message = message;
  }
}

/** A watch cannot resume from the revision it names; the client lists again and watches from the revision of that list. */
export class WatchExpired extends Error {
  constructor(why: string) {
    super(`This watch cannot go on: ${why}. List again and watch from the revision of that list.`);
    this.name = 'WatchExpired';
  }
}

/** Too many expensive queries run and wait; the same query succeeds once some of them end. */
export class Overloaded extends Unavailable {}

/** A part of a query as an error message repeats it: its first 200 characters. */
export function shown(text: string): string {
  return shortened(text, 201, '…');
}
