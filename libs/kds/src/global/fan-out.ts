import { createHash } from 'node:crypto';
import type { Meshes } from '@causeway/meshes';
import {
  identityKey,
  type Identity,
  type Kind,
  type Registry,
  type Resource,
  type ResourceKey,
} from '@causeway/resources';
import type { IndexChange, IndexedState, IndexReader } from '@causeway/store';
import {
  isSentDown,
  mayHaveBeenSentDown,
  MeshView,
  type ExportDefault,
  type MessageLimits,
  type SyncPeer,
} from '@causeway/sync';
import type { Dialect } from '../wire/dialect';
import type { ResourceEncoder } from '../wire/resource-encoder';
import { KumaIndexView, PeerIndexView, toOutboundItem, type OutboundItem } from '../session/outbound/peer-index-view';
import { findSyncedKind } from '../session/synced-kinds';
import type { OutboundHalf } from '../session/outbound/outbound-half';
import { SharedStates } from './shared-states';

/** A stream to a zone that receives changes. */
export interface ZoneSubscriber {
  readonly peer: SyncPeer;
  readonly dialect: Dialect;
  readonly half: OutboundHalf;
}

/** Sources that a fan-out reads. */
export interface FanOutSource {
  readonly index: IndexReader;
  /** State of each mesh here; of the same index. */
  readonly meshes: Meshes;
  readonly registry: Registry;
  readonly encoder: ResourceEncoder;
  readonly now: () => number;
  /** Default for services without an export rule in meshes without a default. */
  readonly exportDefault: ExportDefault;
}

/**
 * Sends changes of the global's index to all zones: each change is evaluated once and marked on every stream that it
 * concerns, in the same turn of the event loop.
 */
export class FanOut implements IndexedState {
  private readonly subscribers = new Set<ZoneSubscriber>();
  private readonly states: SharedStates;
  private readonly hashes = new Map<string, string>();
  private view: MeshView;
  /** Version of the meshes that `view` was built from. */
  private meshesVersion: string;
  private scheduled = false;

  constructor(private readonly source: FanOutSource) {
    this.meshesVersion = source.meshes.version;
    this.view = this.readView();
    this.states = new SharedStates({
      index: source.index,
      isVisible: (kind, resource, peer) => isSentDown(kind, resource, peer, this.view),
      encode: (resource, dialect) => toOutboundItem(source.encoder, resource, dialect),
      now: source.now,
    });
  }

  /** Returns the part of the index that the zone `peer` may receive. */
  viewFor(peer: SyncPeer, dialect: Dialect): PeerIndexView {
    const rules = {
      isVisible: (kind: Kind, resource: Resource) => isSentDown(kind, resource, peer, this.view),
      mayHold: (kind: Kind, id: Identity) => mayHaveBeenSentDown(kind, id, peer),
    };
    const states = {
      read: (kind: string, limits: MessageLimits) =>
        this.states.read(findSyncedKind(this.source.registry, kind), { peer, dialect, limits }),
    };
    return peer.causeway
      ? new PeerIndexView(this.source, () => dialect, rules, states)
      : new KumaIndexView(this.source, () => dialect, rules, states);
  }

  /** Returns the hash of the current rules that select which resources of a kind zones get. */
  viewHash(kindName: string): string {
    const known = this.hashes.get(kindName);
    if (known !== undefined) return known;
    const kind = findSyncedKind(this.source.registry, kindName);
    const hash = createHash('sha256').update(this.view.describe(kind)).digest('base64url').slice(0, 16);
    this.hashes.set(kindName, hash);
    return hash;
  }

  add(subscriber: ZoneSubscriber): void {
    this.subscribers.add(subscriber);
  }

  remove(subscriber: ZoneSubscriber): void {
    this.subscribers.delete(subscriber);
  }

  reload(): void {
    this.states.reload();
    this.follow([], true);
  }

  apply(changes: readonly IndexChange[]): void {
    this.follow(
      changes,
      changes.some(({ id }) => id.kind === 'Zone'),
    );
  }

  private follow(changes: readonly IndexChange[], isOtherView: boolean): void {
    const before = this.view;
    const { version } = this.source.meshes;
    if (isOtherView || version !== this.meshesVersion) {
      this.meshesVersion = version;
      this.view = this.readView();
    }
    this.states.apply(changes, before !== this.view);
    for (const { id, before: was } of changes) this.markAll(id.kind, identityKey(id), was, before);
    if (before !== this.view) this.move(before);
    this.schedulePump();
  }

  /** Sends every peer a bookmark of every kind: without bookmarks, the resume point of an unchanged kind becomes too old to resume from. */
  requestBookmarks(): void {
    for (const { half } of this.subscribers) {
      for (const kind of this.source.registry.kinds) half.requestBookmark(kind.name);
    }
    this.schedulePump();
  }

  /** Applies changed rules: marks the resources whose visibility may differ, and sends bookmarks so that peers of unaffected kinds learn the new hash. */
  private move(before: MeshView): void {
    const hashes = new Map(this.hashes);
    this.hashes.clear();
    this.markChangedVisibility(before);
    for (const [kind, hash] of hashes) {
      if (hash === this.viewHash(kind)) continue;
      for (const { half } of this.subscribers) half.requestBookmark(kind);
    }
  }

  private readView(): MeshView {
    const { index, meshes, exportDefault } = this.source;
    return MeshView.of(meshes.served(), index.ofKind('Zone'), exportDefault);
  }

  /** Marks the resources whose visibility may have changed with a zone or a mesh. */
  private markChangedVisibility(before: MeshView): void {
    const zones = new Set(this.view.zonesChangedSince(before));
    const meshes = new Set(this.view.meshesChangedSince(before));
    const relabelled = this.view.isRelabelledSince(before);
    if (zones.size === 0 && meshes.size === 0 && !relabelled) return;
    const { index } = this.source;
    for (const kind of index.kindNames()) {
      for (const resource of index.ofKind(kind)) {
        const ruled = relabelled && resource.spec['export'] !== undefined;
        if (!ruled && !zones.has(resource.id.zone) && !meshes.has(resource.id.mesh)) continue;
        this.markAll(kind, identityKey(resource.id), resource, before);
      }
    }
  }

  private markAll(kindName: string, key: ResourceKey, was: Resource | undefined, view: MeshView): void {
    const kind = findSyncedKind(this.source.registry, kindName);
    for (const subscriber of this.subscribers) {
      subscriber.half.mark(kindName, key, () => this.formerItem(kind, was, subscriber, view));
    }
  }

  private formerItem(
    kind: Kind,
    was: Resource | undefined,
    { peer, dialect }: ZoneSubscriber,
    view: MeshView,
  ): OutboundItem | undefined {
    if (!was || !isSentDown(kind, was, peer, view)) return undefined;
    return toOutboundItem(this.source.encoder, was, dialect);
  }

  /** Pumps in the same turn, after all listeners of the index have seen the change. */
  private schedulePump(): void {
    if (this.scheduled) return;
    this.scheduled = true;
    queueMicrotask(() => {
      this.scheduled = false;
      for (const { half } of this.subscribers) half.pump();
    });
  }
}
