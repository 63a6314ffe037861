import { UNBOUNDED } from '../src/wire/bounds';
import type { Dialect } from '../src/wire/dialect';
import { decodeEntry, openResponse, type IncomingResponse } from '../src/wire/response';

/** Decodes a response with its resources. Throws as `openResponse` and `decodeEntry` do. */
export function decodeResponse(bytes: Uint8Array, dialect: Dialect, bounds = UNBOUNDED): IncomingResponse {
  const { entries, ...head } = openResponse(bytes, bounds);
  return { ...head, resources: entries.map((entry) => decodeEntry(head.kind, entry, dialect, bounds)) };
}
