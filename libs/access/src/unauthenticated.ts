import { Forbidden } from '@causeway/resources';

/**
 * The caller has no valid token: none, or one that is malformed, expired, revoked or of an unknown key. The message says
 * which check failed and repeats nothing of the token but its id. A valid token for another zone or another use is
 * Forbidden instead.
 */
export class Unauthenticated extends Forbidden {}
