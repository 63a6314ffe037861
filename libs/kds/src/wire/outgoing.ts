import { keepsNameOnWire, wireName } from '@causeway/naming';
import { Label, type ControlPlane, type Labels, type Resource } from '@causeway/resources';
import type { Dialect } from './dialect';
import type { WireKey, WireMeta, WireResource } from './wire-resource';

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
