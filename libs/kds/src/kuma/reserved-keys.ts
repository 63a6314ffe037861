import { fieldsOf, MAX_META_FIELDS } from '../wire/bounds';

/** Generated code assigns map entries one by one to an object, and silently loses this key. */
const RESERVED_KEY = '__proto__';

const MapEntry = { key: 1 } as const;

/** Throws for an undecoded map entry with the reserved key. */
export function refuseReservedKey(what: string, entry: Uint8Array): void {
  if (!mentions(entry)) return;
  for (const { number, content } of fieldsOf(what, entry, MAX_META_FIELDS)) {
    if (number === MapEntry.key && Buffer.from(content).toString() === RESERVED_KEY) throw reservedKeyError(what);
  }
}

/** Throws for an undecoded message that contains the text of the reserved key: it may be a map key at any depth. */
export function refuseReservedText(what: string, message: Uint8Array): void {
  if (mentions(message)) throw reservedKeyError(what);
}

function mentions(bytes: Uint8Array): boolean {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).includes(RESERVED_KEY);
}

function reservedKeyError(what: string): TypeError {
  return new TypeError(`${what} has the key ${RESERVED_KEY}, which no document may have`);
}
