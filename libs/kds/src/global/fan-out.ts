import { createHash } from 'node:crypto';
import { identityKey, type Identity, type Kind, type Registry, type Resource } from '@causeway/resources';
import type { IndexEvent, IndexReader } from '@causeway/store';
import { isSentDown, mayHaveBeenSentDown, MeshView, type ExportDefault, type SyncPeer } from '@causeway/sync';
import type { Dialect } from '../wire/dialect';
import type { ResourceEncoder } from '../wire/resource-encoder';
import { KumaOffer, PeerIndexView, outboundItem, type OutboundItem } from '../session/outbound/peer-index-view';
import type { OutboundStream } from '../session/outbound/outbound-stream';

/** One zone that listens. */
export interface Subscriber {
  readonly peer: SyncPeer;
  readonly dialect: Dialect;
  readonly stream: OutboundStream;
}

/** What an audience is told from. */
export interface FanOutSource {
  readonly index: IndexReader;
  readonly registry: Registry;
  readonly encoder: ResourceEncoder;
  readonly now: () => number;
  /** Of services without an export rule. */
  readonly exportDefault: ExportDefault;
}

/**
 * All zones that listen to the global: a change of the index is worked out once and told to each stream that it
 * concerns, in the same turn of the event loop.
 */
export class FanOut {
  private readonly subscribers = new Set<Subscriber>();
  private readonly hashes = new Map<string, string>();
  private view: MeshView;
  private scheduled = false;

  constructor(private readonly source: FanOutSource) {
    this.view = this.currentView();
  }

  /** What the zone `peer` may be told. */
  viewFor(peer: SyncPeer, dialect: Dialect): PeerIndexView {
    const rules = {
      isVisible: (kind: Kind, resource: Resource) => isSentDown(kind, resource, peer, this.view),
      mayHold: (kind: Kind, id: Identity) => mayHaveBeenSentDown(kind, id, peer),
    };
    return peer.causeway ? new PeerIndexView(this.source, dialect, rules) : new KumaOffer(this.source, dialect, rules);
  }

  /** Hash of the rules by which zones get a kind now. */
  viewHash(kindName: string): string {
    const known = this.hashes.get(kindName);
    if (known !== undefined) return known;
    const kind = this.source.registry.kind(kindName);
    const hash = kind ? createHash('sha256').update(this.view.describe(kind)).digest('base64url').slice(0, 16) : '';
    this.hashes.set(kindName, hash);
    return hash;
  }

  add(listener: Subscriber): void {
    this.subscribers.add(listener);
  }

  remove(listener: Subscriber): void {
    this.subscribers.delete(listener);
  }

  /** Takes in a change of the index. */
  observe({ changes, reloaded }: IndexEvent): void {
    const before = this.view;
    if (reloaded || changes.some(({ id }) => id.kind === 'Zone' || id.kind === 'Mesh')) this.view = this.currentView();
    for (const { id, before: was } of changes) this.markAll(id.kind, identityKey(id), was, before);
    if (before !== this.view) this.move(before);
    this.schedulePump();
  }

  /** All kinds of all streams say how far they are: a point that nobody moved would grow too old to resume from. */
  touchAll(): void {
    for (const { stream } of this.subscribers) {
      for (const kind of this.source.registry.kinds) stream.touch(kind.name);
    }
    this.schedulePump();
  }

  /** The rules changed: what they move is told, and where they moved nothing the peer learns of the new ones. */
  private move(before: MeshView): void {
    const hashes = new Map(this.hashes);
    this.hashes.clear();
    this.markMoved(before);
    for (const [kind, hash] of hashes) {
      if (hash === this.viewHash(kind)) continue;
      for (const { stream } of this.subscribers) stream.touch(kind);
    }
  }

  private currentView(): MeshView {
    const { index, exportDefault } = this.source;
    return MeshView.of(index.ofKind('Mesh'), index.ofKind('Zone'), exportDefault);
  }

  /** What changes hands because a zone or a mesh did. */
  private markMoved(before: MeshView): void {
    const zones = new Set(this.view.zonesChangedSince(before));
    const meshes = new Set(this.view.meshesChangedSince(before));
    const relabelled = this.view.isRelabelledSince(before);
    if (zones.size === 0 && meshes.size === 0 && !relabelled) return;
    for (const kind of this.source.registry.kinds) {
      for (const resource of this.source.index.ofKind(kind.name)) {
        const ruled = relabelled && resource.spec['export'] !== undefined;
        if (!ruled && !zones.has(resource.id.zone) && !meshes.has(resource.id.mesh)) continue;
        this.markAll(kind.name, identityKey(resource.id), resource, before);
      }
    }
  }

  private markAll(kindName: string, key: string, was: Resource | undefined, view: MeshView): void {
    const kind = this.source.registry.kind(kindName);
    if (!kind) return;
    for (const listener of this.subscribers) {
      listener.stream.mark(kindName, key, () => this.formerItem(kind, was, listener, view));
    }
  }

  private formerItem(
    kind: Kind,
    was: Resource | undefined,
    { peer, dialect }: Subscriber,
    view: MeshView,
  ): OutboundItem | undefined {
    if (!was || !isSentDown(kind, was, peer, view)) return undefined;
    return outboundItem(this.source.encoder, was, dialect);
  }

  /** After all listeners of the index have seen the change, in the same turn. */
  private schedulePump(): void {
    if (this.scheduled) return;
    this.scheduled = true;
    queueMicrotask(() => {
      this.scheduled = false;
      for (const { stream } of this.subscribers) stream.pump();
    });
  }
}
