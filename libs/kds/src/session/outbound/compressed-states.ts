import { gzipSync } from 'node:zlib';
import { LRUCache } from 'lru-cache';
import type { StatePart } from '@causeway/sync';
import { storedMember } from '../../wire/gzip-member';
import { MAX_MESSAGE_BYTES } from '../../wire/kds-service';
import { encodeResponseWithout, type OutgoingResponse } from '../../wire/response';
import type { OutboundItem } from './peer-index-view';

/** Resources of fewer bytes are sent uncompressed. */
const LEAST_BYTES = 16 * 1024;

/** Compressed bytes that are kept for the next zone with the same state. */
const MAX_KEPT_BYTES = 64 * 1024 * 1024;

/** Time for which a compressed part that no zone reads is kept, ms. */
const KEPT_FOR = 60_000;

/** Level 1 takes half the time of the default, for a fifth more bytes. */
const COMPRESSION = { level: 1 };

/**
 * Compresses the parts of first states, each once for all zones that get it: the parts of a message and what it has beside them are
 * gzip members of their own, which may follow each other.
 */
export class CompressedStates {
  private readonly kept = new LRUCache<StatePart<OutboundItem>, Buffer>({
    maxSize: MAX_KEPT_BYTES,
    sizeCalculation: ({ length }) => length,
    ttl: KEPT_FOR,
    updateAgeOnGet: true,
    ttlAutopurge: true,
  });

  /** Returns a message as gzip members; undefined if it has no parts, is too small, or too large for any peer. */
  members(
    parts: readonly StatePart<OutboundItem>[],
    rest: Omit<OutgoingResponse, 'resources'>,
  ): readonly Buffer[] | undefined {
    const size = parts.reduce((sum, part) => sum + part.size, 0);
    if (size < LEAST_BYTES || size > MAX_MESSAGE_BYTES) return undefined;
    return [...parts.map((part) => this.compress(part)), storedMember(encodeResponseWithout(rest))];
  }

  private compress(part: StatePart<OutboundItem>): Buffer {
    const known = this.kept.get(part);
    if (known) return known;
    const bytes = Buffer.concat(part.put.map(({ encoded }) => encoded.entry));
    const compressed = gzipSync(bytes, COMPRESSION);
    this.kept.set(part, compressed);
    return compressed;
  }
}
