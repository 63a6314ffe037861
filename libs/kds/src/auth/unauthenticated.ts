import { Forbidden } from '@causeway/resources';

/**
 * What the caller showed proves nothing: no token, or one that is malformed, expired, revoked or of an unknown key. A
 * better token would do, so gRPC says UNAUTHENTICATED; what is proven and not allowed stays PERMISSION_DENIED.
 */
export class Unauthenticated extends Forbidden {}
