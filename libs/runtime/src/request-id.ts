import { randomUUID } from 'node:crypto';

/** The header, and the metadata of gRPC, that name a request, in requests and in answers. */
export const REQUEST_ID = 'x-request-id';

const WELL_FORMED = /^[\w.:-]{1,64}$/;

/** The id of a request: the given one where it is 1 to 64 letters, digits and `_.:-`, else a new one. */
export function resolveRequestId(given: unknown): string {
  return typeof given === 'string' && WELL_FORMED.test(given) ? given : randomUUID();
}
