import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';

const MIB = 1024 * 1024;

/** Most fields of a resource's envelope, labels counted each. */
export const MAX_META_FIELDS = 4_096;

/** Longest name of a kind. */
export const MAX_KIND_LENGTH = 253;

/** What one response may hold. */
export interface ResponseBounds {
  readonly bytes: number;
  /** Resources and removals together. */
  readonly items: number;
  /** Bytes of one resource with its envelope and status; a larger one is refused alone. */
  readonly resource: number;
}

/** Of a plain Kuma peer: all of a kind comes in one message. */
export const KUMA_BOUNDS: ResponseBounds = { bytes: 10 * MIB, items: 100_000, resource: 1.5 * MIB };

/** Of a peer with cw-chunk: pieces of 256 KiB, or one resource that is larger. */
export const CHUNKED_BOUNDS: ResponseBounds = { bytes: 2 * MIB, items: 20_000, resource: 1.5 * MIB };

/** What one request may hold. */
export const REQUEST_BOUNDS = { bytes: 2 * MIB, fields: 10_000, results: 25_000, node: MIB / 4 } as const;

/** Of a message that was not taken from a peer, such as one of our own. */
export const UNBOUNDED: ResponseBounds = { bytes: Infinity, items: Infinity, resource: Infinity };

/** A message that goes beyond a bound: who sent it is at fault, and the stream ends with this reason. */
export class BoundsExceeded extends Error {}

/** Throws BoundsExceeded for more bytes than `most`. */
export function checkBytes(what: string, bytes: number, most: number): void {
  if (bytes > most) throw new BoundsExceeded(`${what} has ${bytes} bytes; at most ${most} are taken`);
}

/** A field of a message, its content undecoded; empty for fields that are not length-delimited. */
export interface WireField {
  readonly number: number;
  readonly start: number;
  readonly end: number;
  readonly content: Uint8Array;
}

const NOTHING = new Uint8Array(0);

/**
 * The fields of a message, not of those in it. Throws BoundsExceeded for more than `most`, and what cannot be read. A field
 * costs about as much as its tag, so a message of millions of empty parts is refused before any of them is made.
 */
export function* fieldsOf(what: string, bytes: Uint8Array, most: number): Generator<WireField> {
  const reader = new BinaryReader(bytes);
  for (let count = 1; reader.pos < reader.len; count++) {
    if (count > most) throw new BoundsExceeded(`${what} has more than ${most} parts`);
    const start = reader.pos;
    const [number, type] = reader.tag();
    if (type === WireType.LengthDelimited) {
      const content = reader.bytes();
      yield { number, start, end: reader.pos, content };
    } else {
      reader.skip(type, number);
      yield { number, start, end: reader.pos, content: NOTHING };
    }
  }
}

/** Throws as `fieldsOf` does. */
export function checkFields(what: string, bytes: Uint8Array, most: number): void {
  for (const field of fieldsOf(what, bytes, most)) void field;
}
