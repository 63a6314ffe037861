import type { ResourceKey } from '@causeway/resources';

/** State of one resource that a peer was last sent. */
export interface LastSent {
  /** Name on the wire, unique within a kind. */
  readonly wireKey: string;
  /** Equal versions mean equal content. */
  readonly version: string;
}

/** One resource, encoded and ready to be sent. */
export interface OutboundResource extends LastSent {
  /** Bytes on the wire. */
  readonly size: number;
}

/** Limits of one message of a stream. */
export interface MessageLimits {
  /** Maximum sum of resource sizes in one message, bytes; a single resource may exceed it. */
  readonly bytes: number;
  /** Whether the peer supports a first state in chunks (cw-chunk); if not, it is one message of any size. */
  readonly chunked: boolean;
}

/**
 * Maximum number of resources, removals and deleted names in one message; a first state that must not be split may exceed it.
 */
export const MAX_MESSAGE_ITEMS = 10_000;

/** Returns whether a message with this many items has no room for the next one, which would make it `size` bytes. */
export function isMessageFull({ bytes }: MessageLimits, items: number, size: number): boolean {
  return items > 0 && (items >= MAX_MESSAGE_ITEMS || size > bytes);
}

/** Resources of a first state that go into one message, as of the moment when they were read. */
export interface StatePart<S extends OutboundResource> {
  readonly put: readonly S[];
  /** Identity keys of resources that the peer may hold from an earlier stream and must drop. */
  readonly gone: readonly ResourceKey[];
  /** Bytes on the wire. */
  readonly size: number;
}

/** One response to the peer. */
export interface OutboundMessage<S extends OutboundResource> {
  readonly kind: string;
  readonly nonce: string;
  /** The revision of our store that the peer holds for this kind after this message; 0 if more messages must follow. */
  readonly revision: number;
  readonly put: readonly S[];
  /** The parts of the first state that `put` and `gone` consist of; none in a change. */
  readonly parts: readonly StatePart<S>[];
  /** Wire keys. */
  readonly removed: readonly string[];
  /** Identity keys of resources that the peer may hold from an earlier stream and must drop; only if `resumed`. */
  readonly gone: readonly ResourceKey[];
  /** `chunk` and `last-chunk` are parts of the first state, the second one completes it; `change` comes after it. */
  readonly part: 'chunk' | 'last-chunk' | 'change';
  /** The first state contains only changes since the peer's resume point: an unnamed resource is unchanged. */
  readonly resumed: boolean;
}
