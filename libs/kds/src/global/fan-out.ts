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
import { isSentDown, mayHaveBeenSentDown, MeshView, type ExportDefault, type SyncPeer } from '@causeway/sync';
import type { Dialect } from '../wire/dialect';
import type { ResourceEncoder } from '../wire/resource-encoder';
import { KumaIndexView, PeerIndexView, outboundItem, type OutboundItem } from '../session/outbound/peer-index-view';
import { syncedKind } from '../session/synced-kinds';
import type { OutboundHalf } from '../session/outbound/outbound-half';

/** One zone that is sent changes. */
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
  /** For services without an export rule, of meshes without a default of their own. */
  readonly exportDefault: ExportDefault;
}

/**
 * Sends changes of the global's index to all zones: each change is evaluated once and marked on every stream that it
 * concerns, in the same turn of the event loop.
 */
export class FanOut implements IndexedState {
  private readonly subscribers = new Set<ZoneSubscriber>();
  private readonly hashes = new Map<string, string>();
  private view: MeshView;
  /** Of the meshes that `view` was made of. */
  private meshesVersion: string;
  private scheduled = false;

  constructor(private readonly source: FanOutSource) {
    this.meshesVersion = source.meshes.version;
    this.view = this.currentView();
  }

  /** Returns the part of the index that the zone `peer` may have. */
  viewFor(peer: SyncPeer, dialect: Dialect): PeerIndexView {
    const rules = {
      isVisible: (kind: Kind, resource: Resource) => isSentDown(kind, resource, peer, this.view),
      mayHold: (kind: Kind, id: Identity) => mayHaveBeenSentDown(kind, id, peer),
    };
    return peer.causeway
      ? new PeerIndexView(this.source, () => dialect, rules)
      : new KumaIndexView(this.source, () => dialect, rules);
  }

  /** Hash of the rules that select what zones get of a kind now. */
  viewHash(kindName: string): string {
    const known = this.hashes.get(kindName);
    if (known !== undefined) return known;
    const kind = syncedKind(this.source.registry, kindName);
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
      this.view = this.currentView();
    }
    for (const { id, before: was } of changes) this.markAll(id.kind, identityKey(id), was, before);
    if (before !== this.view) this.move(before);
    this.schedulePump();
  }

  /** Sends every peer a bookmark of every kind: a resume point that does not move becomes too old to resume from. */
  requestBookmarks(): void {
    for (const { half } of this.subscribers) {
      for (const kind of this.source.registry.kinds) half.requestBookmark(kind.name);
    }
    this.schedulePump();
  }

  /** The rules changed: marks what they move, and sends bookmarks so that peers learn the new rules where nothing moves. */
  private move(before: MeshView): void {
    const hashes = new Map(this.hashes);
    this.hashes.clear();
    this.markMoved(before);
    for (const [kind, hash] of hashes) {
      if (hash === this.viewHash(kind)) continue;
      for (const { half } of this.subscribers) half.requestBookmark(kind);
    }
  }

  private currentView(): MeshView {
    const { index, meshes, exportDefault } = this.source;
    return MeshView.of(meshes.served(), index.ofKind('Zone'), exportDefault);
  }

  /** Marks the resources whose visibility may have changed with a zone or a mesh. */
  private markMoved(before: MeshView): void {
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
    const kind = syncedKind(this.source.registry, kindName);
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
    return outboundItem(this.source.encoder, was, dialect);
  }

  /** Pumps after all listeners of the index have seen the change, in the same turn. */
  private schedulePump(): void {
    if (this.scheduled) return;
    this.scheduled = true;
    queueMicrotask(() => {
      this.scheduled = false;
      for (const { half } of this.subscribers) half.pump();
    });
  }
}
