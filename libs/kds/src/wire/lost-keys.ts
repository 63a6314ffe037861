import { fieldsOf, MOST_META_FIELDS } from './bounds';

/** A key that no map can hold: generated code assigns entries one by one, and loses this one in silence. */
const LOST = '__proto__';

const MapEntry = { key: 1 } as const;

/** Throws for a map entry, as undecoded bytes, whose key would be lost. */
export function refuseLostKey(what: string, entry: Uint8Array): void {
  if (!mentions(entry)) return;
  for (const { number, content } of fieldsOf(what, entry, MOST_META_FIELDS)) {
    if (number === MapEntry.key && Buffer.from(content).toString() === LOST) throw lost(what);
  }
}

/** Throws for a message that holds this text anywhere: it may be a key of a map, however deep. */
export function refuseLostText(what: string, message: Uint8Array): void {
  if (mentions(message)) throw lost(what);
}

function mentions(bytes: Uint8Array): boolean {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).includes(LOST);
}

function lost(what: string): TypeError {
  return new TypeError(`${what} has the key ${LOST}, which no document may have`);
}
