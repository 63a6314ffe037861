import { zoneOfKey, type Kind, type Resource, type ResourceKey } from '@causeway/resources';
import type { IndexChange, IndexReader } from '@causeway/store';
import {
  isSentDownAlike,
  type StateBlocks,
  type MessageLimits,
  type StateBlock,
  type StatePart,
  type SyncPeer,
} from '@causeway/sync';
import type { OutboundItem } from '../session/outbound/peer-index-view';
import type { Dialect } from '../wire/dialect';

/** Number of resources of a block: services of usual size fill one chunk. */
const BLOCK_KEYS = 350;

/** Number of selections of a block that are kept; further ones are made for one zone alone. */
const MAX_SELECTIONS = 8;

/** Number of keys of deleted resources beyond which a state is made anew if they are most of its keys. */
const MAX_DELETED = 10_000;

/** Time without a reader after which a state is dropped at the next change, ms. */
const KEPT_FOR = 60_000;

/** A zone that reads first states. */
export interface StateReader {
  readonly peer: SyncPeer;
  readonly dialect: Dialect;
  readonly limits: MessageLimits;
}

/** What first states are read from. */
export interface SharedStateSource {
  readonly index: IndexReader;
  /** Returns whether a zone may have a resource, by the rules of now. */
  readonly isVisible: (kind: Kind, resource: Resource, peer: SyncPeer) => boolean;
  /** Returns the resource encoded for a dialect; undefined if the dialect cannot express it. */
  readonly encode: (resource: Resource, dialect: Dialect) => OutboundItem | undefined;
  readonly now: () => number;
  /** Number of resources of a block. */
  readonly blockKeys?: number;
}

type ItemsPart = StatePart<OutboundItem>;

const NOTHING: ItemsPart = { put: [], gone: [], size: 0 };

/**
 * First states of kinds for all zones that join. The resources of a kind stand in blocks, those of a zone together; zones
 * that get the same resources of a block get the same parts, which are encoded and compressed once. A changed block is
 * read anew. A state costs a map of the kind's keys, from its first reader until a minute after its last one.
 */
export class SharedStates {
  private readonly states = new Map<string, SharedState>();

  constructor(private readonly source: SharedStateSource) {}

  /** Returns the first state of a kind for a zone. */
  read(kind: Kind, reader: StateReader): StateBlocks<OutboundItem> {
    const state = this.states.get(kind.name) ?? new SharedState(kind, this.source);
    this.states.set(kind.name, state);
    return new ZoneState(state, reader);
  }

  /** Drops all states, after the streams that read them have ended. */
  reload(): void {
    this.states.clear();
  }

  /** Follows changes after the index; `hasOtherRules`: other resources may be visible since. */
  apply(changes: readonly IndexChange[], hasOtherRules: boolean): void {
    for (const [kind, state] of this.states) {
      if (!state.isWorthKeeping()) {
        state.drop();
        this.states.delete(kind);
      } else if (hasOtherRules) state.forgetSelections();
    }
    for (const change of changes) this.states.get(change.id.kind)?.apply(change);
  }
}

/** The state of one kind. */
class SharedState {
  readonly first = new Block();
  private last = this.first;
  /** Number of keys whose resources are deleted. */
  private deleted = 0;
  private readonly places = new Map<ResourceKey, Block>();
  private readonly blockKeys: number;
  private usedAt: number;
  private isFollowed = true;

  constructor(
    private readonly kind: Kind,
    private readonly source: SharedStateSource,
  ) {
    this.usedAt = source.now();
    this.blockKeys = source.blockKeys ?? BLOCK_KEYS;
    const zones = new Map<string, ResourceKey[]>();
    for (const [key] of source.index.listEntries(kind.name)) {
      const zone = zoneOfKey(key);
      const keys = zones.get(zone);
      if (keys) keys.push(key);
      else zones.set(zone, [key]);
    }
    for (const keys of zones.values()) for (const key of keys) this.append(key);
  }

  /** Number of keys. */
  get size(): number {
    return this.places.size;
  }

  /** Returns what a zone gets of a block now; splits the block until that fits in a message. */
  read(block: Block, reader: StateReader): ItemsPart {
    let part = this.select(block, reader);
    while (part.size > reader.limits.bytes && part.put.length > 1) {
      this.split(block);
      part = this.select(block, reader);
    }
    return part;
  }

  /** The key of a deleted resource stays: a zone that has not read its block holds nothing of it. */
  apply({ key, before, after }: IndexChange): void {
    const block = this.places.get(key);
    if (!block && after) this.append(key);
    if (!block) return;
    block.changed();
    if (!after) this.deleted += 1;
    else if (!before) this.deleted -= 1;
  }

  forgetSelections(): void {
    for (let block: Block | undefined = this.first; block; block = block.next) block.changed();
  }

  isWorthKeeping(): boolean {
    const isSparse = this.deleted > MAX_DELETED && this.deleted > this.places.size / 2;
    return !isSparse && this.source.now() - this.usedAt < KEPT_FOR;
  }

  /** Ends following changes: zones that are reading it read the rest each for itself. */
  drop(): void {
    this.isFollowed = false;
    this.forgetSelections();
  }

  private select(block: Block, { peer, dialect }: StateReader): ItemsPart {
    const { kind, source } = this;
    this.usedAt = source.now();
    if (!this.isFollowed) block.changed();
    const { resources, zones, isAlike } = block.content(source.index);
    const isVisible = (resource: Resource): boolean => source.isVisible(kind, resource, peer);
    const selected = isAlike && !zones.has(peer.zone) ? '' : resources.map((each) => Number(isVisible(each))).join('');
    const { json, meta, sources } = dialect;
    const selection = JSON.stringify([json, meta, sources, peer.causeway, peer.groups, selected]);
    const known = block.selections.get(selection);
    if (known) return known;
    const put = resources.filter(isVisible).flatMap((resource) => source.encode(resource, dialect) ?? []);
    const part = put.length === 0 ? NOTHING : { put, gone: [], size: put.reduce((sum, { size }) => sum + size, 0) };
    if (block.selections.size < MAX_SELECTIONS) block.selections.set(selection, part);
    return part;
  }

  private append(key: ResourceKey): void {
    if (this.last.keys.size >= this.blockKeys) this.last = this.insertAfter(this.last);
    this.place(key, this.last);
    this.last.changed();
  }

  /** Moves the second half of a block into a block of its own, which stands behind it. */
  private split(block: Block): void {
    const moved = [...block.keys].slice(Math.ceil(block.keys.size / 2));
    const other = this.insertAfter(block);
    for (const key of moved) {
      block.keys.delete(key);
      this.place(key, other);
    }
    block.changed();
  }

  private insertAfter(block: Block): Block {
    const added = new Block();
    added.next = block.next;
    block.next = added;
    if (block === this.last) this.last = added;
    return added;
  }

  private place(key: ResourceKey, block: Block): void {
    block.keys.add(key);
    this.places.set(key, block);
  }
}

/** What the resources of a block are now. */
interface BlockContent {
  readonly resources: readonly Resource[];
  /** The zones that they belong to. */
  readonly zones: ReadonlySet<string>;
  /** All zones but those get the same of them. */
  readonly isAlike: boolean;
}

/** Some resources of a kind. */
class Block {
  /** The block behind it. */
  next: Block | undefined;
  readonly keys = new Set<ResourceKey>();
  /** What zones get of it, by what they may have and how they read it. */
  readonly selections = new Map<string, ItemsPart>();
  private known: BlockContent | undefined;

  content(index: IndexReader): BlockContent {
    if (this.known) return this.known;
    const resources = [...this.keys].flatMap((key) => index.byIdentityKey(key) ?? []);
    const zones = new Set(resources.map(({ id }) => id.zone));
    this.known = { resources, zones, isAlike: resources.every(isSentDownAlike) };
    return this.known;
  }

  /** Its resources, or who may have them, are others. */
  changed(): void {
    this.known = undefined;
    this.selections.clear();
  }
}

/** A state as one zone reads it; blocks of which the zone gets nothing are passed over. */
class ZoneState implements StateBlocks<OutboundItem> {
  private block: Block | undefined;
  /** Number of keys in the blocks before. */
  private passed = 0;

  constructor(
    private readonly state: SharedState,
    private readonly reader: StateReader,
  ) {
    this.block = state.first;
    this.passEmpty();
  }

  get remaining(): number {
    return this.block ? Math.max(1, this.state.size - this.passed) : 0;
  }

  next(): StateBlock<OutboundItem> | undefined {
    const { block } = this;
    if (!block) return undefined;
    const part = this.state.read(block, this.reader);
    this.pass(block);
    return { keys: [block.keys, ...this.passEmpty()], part };
  }

  private pass({ keys, next }: Block): void {
    this.passed += keys.size;
    this.block = next;
  }

  /** Passes the blocks of which the zone gets nothing; returns their keys. */
  private passEmpty(): readonly ReadonlySet<ResourceKey>[] {
    const passed: ReadonlySet<ResourceKey>[] = [];
    for (let { block } = this; block; block = this.block) {
      if (this.state.read(block, this.reader).put.length > 0) break;
      passed.push(block.keys);
      this.pass(block);
    }
    return passed;
  }
}
