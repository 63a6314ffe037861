import { fieldsOf, MAX_META_FIELDS } from '../wire/bounds';

/** A key that no map can hold: generated code assigns entries one by one, and loses this one in silence. */
const RESERVED_KEY = '__proto__';

const MapEntry = { key: 1 } as const;

/** Throws for a map entry, as undecoded bytes, whose key would be lost. */
export function refuseReservedKey(what: string, entry: Uint8Array): void {
  if (!mentions(entry)) return;
  for (const { number, content } of fieldsOf(what, entry, MAX_META_FIELDS)) {
    if (number === MapEntry.key && Buffer.from(content).toString() === RESERVED_KEY) throw reservedKeyError(what);
  }
}

/** Throws for a message that holds this text anywhere: it may be a key of a map, however deep. */
export function refuseReservedText(what: string, message: Uint8Array): void {
  if (mentions(message)) throw reservedKeyError(what);
}

function mentions(bytes: Uint8Array): boolean {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).includes(RESERVED_KEY);
}

function reservedKeyError(what: string): TypeError {
  return new TypeError(`${what} has the key ${RESERVED_KEY}, which no document may have`);
}
