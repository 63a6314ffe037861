import { randomUUID } from 'node:crypto';

/** HTTP header and gRPC metadata key of a request's id, in requests and answers. */
export const REQUEST_ID = 'x-request-id';

const WELL_FORMED = /^[\w.:-]{1,64}$/;

/** Returns the id of a request: the given one if it has 1 to 64 letters, digits and `_.:-`, else a new one. */
export function resolveRequestId(given: unknown): string {
  return typeof given === 'string' && WELL_FORMED.test(given) ? given : randomUUID();
}
