import { type Identity, type Kind, type Registry, type Resource, type ResourceKey } from '@causeway/resources';
import type { IndexReader } from '@causeway/store';
import {
  KeyedStateBlocks,
  type StateBlocks,
  type MessageLimits,
  type OutboundResource,
  type OutboundSource,
} from '@causeway/sync';
import { type Dialect, KUMA_DIALECT } from '../../wire/dialect';
import type { EncodedWireResource, ResourceEncoder } from '../../wire/resource-encoder';
import { formatWireKey } from '../../wire/wire-resource';
import { findSyncedKind } from '../synced-kinds';
import { toClusterConfig, CONFIG_KIND } from '../kuma-incarnation';

/** An encoded resource as an outbox handles it. */
export interface OutboundItem extends OutboundResource {
  readonly encoded: EncodedWireResource;
}

/** Sources that a view reads. */
export interface IndexViewSource {
  readonly index: IndexReader;
  readonly registry: Registry;
  readonly encoder: ResourceEncoder;
  readonly now: () => number;
}

/** Rules that select which resources a peer may have. */
export interface VisibilityRules {
  isVisible(kind: Kind, resource: Resource): boolean;
  /** Returns whether the peer may have received a resource of this identity earlier. */
  mayHold(kind: Kind, id: Identity): boolean;
}

/** Full states that several peers read together. */
export interface FullStates {
  read(kind: string, limits: MessageLimits): StateBlocks<OutboundItem>;
}

const ITEMS = new WeakMap<EncodedWireResource, OutboundItem>();

/** Returns the resource encoded for a dialect, once for all streams; undefined if the dialect cannot express it. */
export function toOutboundItem(
  encoder: ResourceEncoder,
  resource: Resource,
  dialect: Dialect,
): OutboundItem | undefined {
  const encoding = encoder.encode(resource, dialect);
  if (!encoding.ok) return undefined;
  const encoded = encoding.resource;
  const known = ITEMS.get(encoded);
  if (known) return known;
  const item = itemFromBytes(encoded);
  ITEMS.set(encoded, item);
  return item;
}

function itemFromBytes(encoded: EncodedWireResource): OutboundItem {
  return { wireKey: formatWireKey(encoded), version: encoded.version, size: encoded.entry.length, encoded };
}

/** The part of the index that one peer may have. */
export class PeerIndexView implements OutboundSource<OutboundItem> {
  constructor(
    protected readonly source: IndexViewSource,
    private readonly dialect: () => Dialect,
    private readonly rules: VisibilityRules,
    private readonly states?: FullStates,
  ) {}

  initialState(kind: string, since: number | undefined, limits: MessageLimits): StateBlocks<OutboundItem> {
    if (since === undefined && this.states) return this.states.read(kind, limits);
    const keys = since === undefined ? this.keys(kind) : this.keysSince(kind, since);
    return new KeyedStateBlocks({ keys, get: (key) => this.get(key), resumed: since !== undefined }, limits);
  }

  /** Returns identity keys of all resources of a kind that the peer may have. */
  protected *keys(kindName: string): Iterable<ResourceKey> {
    const kind = findSyncedKind(this.source.registry, kindName);
    for (const [key, resource] of this.source.index.listEntries(kindName)) {
      if (this.rules.isVisible(kind, resource)) yield key;
    }
  }

  get(key: ResourceKey): OutboundItem | undefined {
    const resource = this.source.index.byIdentityKey(key);
    if (!resource) return undefined;
    const kind = findSyncedKind(this.source.registry, resource.id.kind);
    if (!this.rules.isVisible(kind, resource)) return undefined;
    return toOutboundItem(this.source.encoder, resource, this.dialect());
  }

  /** Returns identity keys of a kind that changed or were deleted after `revision` and that the peer may ever have had. */
  private *keysSince(kindName: string, revision: number): Iterable<ResourceKey> {
    const kind = findSyncedKind(this.source.registry, kindName);
    const { index } = this.source;
    for (const entries of [index.listEntries(kindName), index.listTombstones(kindName)]) {
      for (const [key, { id, revision: at }] of entries) {
        if (at > revision && this.rules.mayHold(kind, id)) yield key;
      }
    }
  }

  now(): number {
    return this.source.now();
  }

  revision(): number {
    return this.source.index.point?.revision ?? 0;
  }
}

const CLUSTER_ID_KEY: ResourceKey = `${CONFIG_KIND}////kuma-cluster-id`;

/** The resources that a plain Kuma zone may have: those of the index, and the cluster id of this global (docs/reference/kds-wire.md §10.1). */
export class KumaIndexView extends PeerIndexView {
  override initialState(kind: string, since: number | undefined, limits: MessageLimits): StateBlocks<OutboundItem> {
    if (kind !== CONFIG_KIND) return super.initialState(kind, since, limits);
    const keys = [CLUSTER_ID_KEY];
    return new KeyedStateBlocks({ keys, get: (key) => this.get(key), resumed: false }, limits);
  }

  override get(key: ResourceKey): OutboundItem | undefined {
    if (key !== CLUSTER_ID_KEY) return super.get(key);
    const encoding = this.source.encoder.encodeWire(
      toClusterConfig(this.source.index.point?.incarnation ?? ''),
      KUMA_DIALECT,
    );
    return encoding.ok ? itemFromBytes(encoding.resource) : undefined;
  }
}
