import {
  identityKey,
  isComputedLabel,
  jsonEqual,
  type Identity,
  type JsonObject,
  type Kind,
  type Resource,
} from '@causeway/resources';
import {
  isKindSentDown,
  isKindSentUp,
  isSentDown,
  isSentUp,
  mayHaveBeenSentDown,
  mayHaveBeenSentUp,
  type MeshView,
} from '@causeway/sync';

/** The state of a resource on the control plane that is behind: missing, different, or no longer sent by the other. */
type DifferenceState = 'lacks' | 'differs' | 'left over';

/** A resource that differs on one control plane from what the other sends. */
export interface Difference {
  /** The control plane that is behind. */
  readonly where: 'global' | 'zone';
  readonly state: DifferenceState;
  readonly id: Identity;
  /** The parts that differ. */
  readonly parts: readonly string[];
}

/** The resources of one kind on both control planes. */
export interface BothStores {
  readonly kind: Kind;
  readonly zone: string;
  readonly inGlobal: readonly Resource[];
  readonly inZone: readonly Resource[];
  /** The meshes and zones from the global's point of view: they determine which resources a zone gets. */
  readonly view: MeshView;
}

/**
 * Returns the differences of one kind between the resources that the global sends and those of the zone, and the reverse. Lists show no values of
 * confidential kinds, so these count as equal if both sides have them.
 */
export function compareStores(stores: BothStores): readonly Difference[] {
  return [...downwards(stores), ...upwards(stores)];
}

function downwards({ kind, zone, inGlobal, inZone, view }: BothStores): readonly Difference[] {
  const peer = { zone, causeway: true, groups: true };
  if (!isKindSentDown(kind, peer)) return [];
  return differences('zone', {
    sent: inGlobal.filter((resource) => isSentDown(kind, resource, peer, view)),
    received: inZone.filter(({ id }) => mayHaveBeenSentDown(kind, id, peer)),
  });
}

function upwards({ kind, zone, inGlobal, inZone }: BothStores): readonly Difference[] {
  const peer = { zone, causeway: true, groups: true };
  if (!isKindSentUp(kind, peer)) return [];
  const self = { role: 'zone', zone, federated: true } as const;
  return differences('global', {
    sent: inZone.filter((resource) => isSentUp(kind, resource, peer, self)),
    received: inGlobal.filter(({ id }) => mayHaveBeenSentUp(kind, id, peer)),
  });
}

function differences(
  where: Difference['where'],
  { sent, received }: { readonly sent: readonly Resource[]; readonly received: readonly Resource[] },
): readonly Difference[] {
  const there = new Map(received.map((resource) => [identityKey(resource.id), resource]));
  const found = sent.flatMap((resource): Difference[] => {
    const key = identityKey(resource.id);
    const copy = there.get(key);
    there.delete(key);
    if (!copy) return [{ where, state: 'lacks', id: resource.id, parts: [] }];
    const parts = differentParts(resource, copy);
    return parts.length === 0 ? [] : [{ where, state: 'differs', id: resource.id, parts }];
  });
  const left = [...there.values()].map(({ id }): Difference => ({ where, state: 'left over', id, parts: [] }));
  return [...found, ...left];
}

/** Returns the labels and spec fields that differ. */
function differentParts(a: Resource, b: Resource): readonly string[] {
  return [...unequalKeys('labels', ownLabels(a), ownLabels(b)), ...unequalKeys('spec', a.spec, b.spec)];
}

function unequalKeys(part: string, a: JsonObject, b: JsonObject): readonly string[] {
  const keys = [...new Set([...Object.keys(a), ...Object.keys(b)])].sort();
  return keys.filter((key) => !jsonEqual(a[key] ?? null, b[key] ?? null)).map((key) => `${part}.${key}`);
}

function ownLabels({ labels }: Resource): JsonObject {
  return Object.fromEntries(Object.entries(labels).filter(([key]) => !isComputedLabel(key)));
}
