import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';

const MIB = 1024 * 1024;

/** Maximum number of fields in a resource's envelope; each label is one. */
export const MAX_META_FIELDS = 4_096;

/** Maximum length of the name of a kind. */
export const MAX_KIND_LENGTH = 253;

/** Bounds of one response. */
export interface ResponseBounds {
  readonly bytes: number;
  /** Maximum number of resources and removals. */
  readonly items: number;
  /** Maximum bytes of one resource with its envelope and status; only a larger resource is rejected. */
  readonly resource: number;
}

/** Bounds for a plain Kuma peer, which sends all resources of a kind in one message. */
export const KUMA_BOUNDS: ResponseBounds = { bytes: 10 * MIB, items: 100_000, resource: 1.5 * MIB };

/** Bounds for a peer with cw-chunk, which sends chunks of 256 KiB, or one larger resource. */
export const CHUNKED_BOUNDS: ResponseBounds = { bytes: 2 * MIB, items: 20_000, resource: 1.5 * MIB };

/** Bounds of one request. */
export const REQUEST_BOUNDS = { bytes: 2 * MIB, fields: 10_000, results: 25_000, node: MIB / 4 } as const;

/** Bounds for messages that do not come from a peer. */
export const UNBOUNDED: ResponseBounds = { bytes: Infinity, items: Infinity, resource: Infinity };

/** A message exceeds a bound. The stream ends with this reason. */
export class BoundsExceeded extends Error {}

/** Throws BoundsExceeded if there are more bytes than `most`. */
export function checkBytes(what: string, bytes: number, most: number): void {
  if (bytes > most) throw new BoundsExceeded(`${what} has ${bytes} bytes; at most ${most} are taken`);
}

/** A top-level field of a message. `content` is not decoded; empty for fields that are not length-delimited. */
export interface WireField {
  readonly number: number;
  readonly start: number;
  readonly end: number;
  readonly content: Uint8Array;
}

const NOTHING = new Uint8Array(0);

/**
 * Yields the top-level fields of a message. Throws BoundsExceeded for more than `most`, and on malformed bytes. Reading
 * a field costs about as much as its tag, so a message of millions of empty fields is refused before it is decoded.
 */
export function* readFields(what: string, bytes: Uint8Array, most: number): Generator<WireField> {
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

/** Reads all fields; throws as `readFields` does. */
export function checkFields(what: string, bytes: Uint8Array, most: number): void {
  for (const field of readFields(what, bytes, most)) void field;
}
