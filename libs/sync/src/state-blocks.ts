import type { ResourceKey } from '@causeway/resources';
import { isMessageFull, type MessageLimits, type OutboundResource, type StatePart } from './outbound-message';

/** The next resources of a first state. */
export interface StateBlock<S extends OutboundResource> {
  /** Identity keys of all resources that were read, also of those that the peer may not have. */
  readonly keys: readonly ReadonlySet<ResourceKey>[];
  /** What the peer gets of them, within the limits of a message. Several streams may get the same object. */
  readonly part: StatePart<S>;
}

/** The first state of a kind for one peer, read block by block. */
export interface StateBlocks<S extends OutboundResource> {
  /** Returns the next block as of now; undefined at the end. */
  next(): StateBlock<S> | undefined;
  /** Number of keys that are not read yet; 0 if and only if `next` returns undefined. */
  readonly remaining: number;
}

/** Sources of a first state that one peer alone reads. */
export interface KeyedStateSource<S extends OutboundResource> {
  readonly keys: Iterable<ResourceKey>;
  /** Returns a resource as it would be sent now; undefined if the peer may not have it or it does not exist. */
  readonly get: (key: ResourceKey) => S | undefined;
  /** The peer holds an earlier state, and the keys that no longer exist are sent as gone. */
  readonly resumed: boolean;
}

/** The resources of a list of keys, each read when its message is made; one block is one message. */
export class KeyedStateBlocks<S extends OutboundResource> implements StateBlocks<S> {
  /** Reversed, so that taking from the end keeps the order. */
  private readonly keys: ResourceKey[];

  constructor(
    private readonly source: KeyedStateSource<S>,
    private readonly limits: MessageLimits,
  ) {
    this.keys = [...source.keys].reverse();
  }

  get remaining(): number {
    return this.keys.length;
  }

  next(): StateBlock<S> | undefined {
    const keys = new Set<ResourceKey>();
    const put: S[] = [];
    const gone: ResourceKey[] = [];
    let size = 0;
    for (let key = this.keys.pop(); key !== undefined; key = this.keys.pop()) {
      const item = this.source.get(key);
      const cost = item?.size ?? (this.source.resumed ? key.length : 0);
      if (isMessageFull(this.limits, put.length + gone.length, size + cost)) {
        this.keys.push(key);
        break;
      }
      keys.add(key);
      if (item) put.push(item);
      else if (this.source.resumed) gone.push(key);
      size += cost;
    }
    return keys.size === 0 ? undefined : { keys: [keys], part: { put, gone, size } };
  }
}
