import { Forbidden } from '@causeway/resources';
import type { Caller } from './caller';

/**
 * No binding allows it to the caller, or one restricts the caller. Interfaces ask a caller without credentials to send
 * some (401, UNAUTHENTICATED), and answer others that it is forbidden.
 */
export class AccessDenied extends Forbidden {
  constructor(
    readonly caller: Caller,
    reason: string,
  ) {
    super(reason);
  }
}
