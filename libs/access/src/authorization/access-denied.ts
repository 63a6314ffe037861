import { Forbidden } from '@causeway/resources';
import type { Caller } from './caller';

/**
 * No binding lets the caller do it, or one restricts the caller. Interfaces tell a caller without credentials to send
 * some (401, UNAUTHENTICATED), and others that it is forbidden.
 */
export class AccessDenied extends Forbidden {
  constructor(
    readonly caller: Caller,
    reason: string,
  ) {
    super(reason);
  }
}
