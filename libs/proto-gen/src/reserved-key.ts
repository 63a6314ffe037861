/** Generated code assigns map entries one by one to an object, and silently loses this key. */
export const RESERVED_KEY = '__proto__';

/** Throws for an undecoded message that contains the text of the reserved key: it may be a map key at any depth. */
export function refuseReservedText(what: string, message: Uint8Array): void {
  if (mentionsReservedKey(message)) throw reservedKeyError(what);
}

/** Whether undecoded bytes contain the text of the reserved key. */
export function mentionsReservedKey(bytes: Uint8Array): boolean {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).includes(RESERVED_KEY);
}

/** The refusal of `what`, which has the reserved key. */
export function reservedKeyError(what: string): TypeError {
  return new TypeError(`${what} has the key ${RESERVED_KEY}, which no document may have`);
}
