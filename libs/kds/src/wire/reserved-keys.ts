import { mentionsReservedKey, RESERVED_KEY, reservedKeyError } from '@causeway/proto-gen';
import { readFields, MAX_META_FIELDS } from './bounds';

const MapEntry = { key: 1 } as const;

/** Throws for an undecoded map entry with the reserved key. */
export function refuseReservedKey(what: string, entry: Uint8Array): void {
  if (!mentionsReservedKey(entry)) return;
  for (const { number, content } of readFields(what, entry, MAX_META_FIELDS)) {
    if (number === MapEntry.key && Buffer.from(content).toString() === RESERVED_KEY) throw reservedKeyError(what);
  }
}
