import { keepsNameOnWire, wireName } from '@causeway/naming';
import {
  Label,
  type ControlPlane,
  type JsonObject,
  type Labels,
  type OriginRevision,
  type Resource,
} from '@causeway/resources';
import type { Dialect } from './dialect';

/** Name of a resource or removal on the wire. */
export interface WireKey {
  readonly name: string;
  /** Empty for kinds of global scope. */
  readonly mesh: string;
}

/** Metadata of a resource that only Causeway peers exchange (docs/design.md §5 cw-meta). */
export interface WireMeta {
  readonly uid: string;
  /** Zone of origin; empty for resources of the global. */
  readonly zone: string;
  readonly namespace: string;
  readonly generation: number;
  /** µs since 1970; 0 if unknown. */
  readonly creationOrder: number;
  readonly origin: OriginRevision;
}

/**
 * One resource between our model and the messages: plain data, with name and labels as on the wire, and spec and status
 * in our language.
 */
export interface WireResource extends WireKey {
  readonly kind: string;
  readonly labels: Labels;
  readonly spec: JsonObject;
  readonly status?: JsonObject;
  /** Absent from peers without `cw-meta`. */
  readonly meta?: WireMeta;
}

/** A received resource that was rejected, and why (docs/design.md §5 "One bad resource"). */
export interface WireFault extends WireKey {
  readonly kind: string;
  readonly reason: string;
}

/**
 * Label that carries the creation order through a Kuma global; the receiving Causeway zone removes it
 * (docs/reference/kds-wire.md §4.3).
 */
export const CREATION_ORDER_LABEL = 'causeway.io/creation-order';

const GRACE_LABEL = 'kuma.io/deletion-grace-period-started-at';

/**
 * Returns a resource in the form that this control plane sends: with hashed name and with the labels of its origin
 * (docs/reference/kds-wire.md §4.2 down, §4.3 up). Zones send status, the global only that of Zones.
 */
export function toWireResource(resource: Resource, cp: ControlPlane, dialect: Dialect): WireResource {
  const labels = outgoingLabels(resource, cp, dialect);
  const { id, spec, status } = resource;
  const wire = { kind: id.kind, mesh: id.mesh, name: wireName({ ...id, labels }), labels, spec };
  return {
    ...wire,
    ...(status !== undefined && (cp.role === 'zone' || isStatusSentDown(id.kind)) ? { status } : {}),
    ...(dialect.meta ? { meta: toWireMeta(resource) } : {}),
  };
}

/**
 * Returns whether the global sends the status of a kind to zones: only that of Zones, which lists lost zones (docs/design.md §5).
 */
export function isStatusSentDown(kind: string): boolean {
  return kind === 'Zone';
}

/**
 * Returns the name of a stored resource on the wire; for a copy, the name that its sender uses. The name depends on
 * labels, which a tombstone lacks, so a sender has to keep the key of each resource that it may have to remove.
 */
export function getWireKey({ id, labels }: Pick<Resource, 'id' | 'labels'>): WireKey {
  return { name: wireName({ ...id, labels }), mesh: id.mesh };
}

/** Returns `name.mesh` as in `removed_resources`, with the dot also for global scope (docs/reference/kds-wire.md §2.4). */
export function formatWireKey(key: WireKey): string {
  return `${key.name}.${key.mesh}`;
}

/** Splits at the last dot; without a dot the scope is global (docs/reference/kds-wire.md §2.4). */
export function parseWireKey(text: string): WireKey {
  const dot = text.lastIndexOf('.');
  return dot < 0 ? { name: text, mesh: '' } : { name: text.slice(0, dot), mesh: text.slice(dot + 1) };
}

function outgoingLabels({ id, labels, creationOrder }: Resource, cp: ControlPlane, dialect: Dialect): Labels {
  const named = keepsNameOnWire(id.kind) || labels[Label.displayName] ? {} : { [Label.displayName]: id.name };
  if (cp.role === 'global') return { ...labels, ...named, [Label.origin]: 'global' };
  const { [GRACE_LABEL]: _, ...kept } = labels;
  const order = dialect.meta || creationOrder === 0 ? {} : { [CREATION_ORDER_LABEL]: String(creationOrder) };
  return { ...kept, ...named, ...order, [Label.origin]: 'zone', [Label.zone]: cp.zone };
}

function toWireMeta({ id, uid, generation, creationOrder, origin }: Resource): WireMeta {
  return { uid, zone: id.zone, namespace: id.namespace, generation, creationOrder, origin };
}
