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

/** What a resource or a removal is called on the wire. */
export interface WireKey {
  readonly name: string;
  /** Empty for kinds of global scope. */
  readonly mesh: string;
}

/** Facts about a resource that only Causeway peers tell each other (design.md §5 cw-meta). */
export interface WireMeta {
  readonly uid: string;
  /** Zone of origin; empty for what was made on the global. */
  readonly zone: string;
  readonly namespace: string;
  readonly generation: number;
  /** µs since 1970; 0 = unknown. */
  readonly creationOrder: number;
  readonly origin: OriginRevision;
}

/**
 * One resource at the border between our model and the messages: plain data, names and labels as on the wire, spec
 * and status always in our language.
 */
export interface WireResource extends WireKey {
  readonly kind: string;
  readonly labels: Labels;
  readonly spec: JsonObject;
  readonly status?: JsonObject;
  /** Absent from peers without `cw-meta`. */
  readonly meta?: WireMeta;
}

/** What of a received resource could not be taken in, and why; it counts as handled (design.md §5). */
export interface WireFault extends WireKey {
  readonly kind: string;
  readonly reason: string;
}

/** Carries the creation order through a Kuma global; Causeway peers strip it (design.md §4 Creation order). */
export const CREATION_ORDER_LABEL = 'causeway.io/creation-order';

const GRACE_LABEL = 'kuma.io/deletion-grace-period-started-at';

/**
 * A resource as it leaves this control plane: named by hash, labelled with its origin as the receiver sees it
 * (kds.md §4.2 down, §4.3 up). Status goes up, not down.
 */
export function toWireResource(resource: Resource, cp: ControlPlane, dialect: Dialect): WireResource {
  const labels = outgoingLabels(resource, cp, dialect);
  const { id, spec, status } = resource;
  const wire = { kind: id.kind, mesh: id.mesh, name: wireName({ ...id, labels }), labels, spec };
  return {
    ...wire,
    ...(status !== undefined && (cp.role === 'zone' || isStatusSentDown(id.kind)) ? { status } : {}),
    ...(dialect.meta ? { meta: metaOf(resource) } : {}),
  };
}

/** Whether zones are told the status that the global wrote: of Zones, for their lost state (design.md §5 Lost zone). */
export function isStatusSentDown(kind: string): boolean {
  return kind === 'Zone';
}

/**
 * What a resource held here is called on the wire, a copy as its sender names it. A tombstone has no labels, which the
 * name is made from: who must remove something later remembers its key.
 */
export function wireKeyOf({ id, labels }: Pick<Resource, 'id' | 'labels'>): WireKey {
  return { name: wireName({ ...id, labels }), mesh: id.mesh };
}

/** A removal as in `removed_resources`: `name.mesh`, with the dot also for global scope (kds.md §2.4). */
export function formatWireKey(key: WireKey): string {
  return `${key.name}.${key.mesh}`;
}

/** Splits at the last dot; without a dot the scope is global (kds.md §2.4). */
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

function metaOf({ id, uid, generation, creationOrder, origin }: Resource): WireMeta {
  return { uid, zone: id.zone, namespace: id.namespace, generation, creationOrder, origin };
}
