import {
  crossesZones,
  isJsonObject,
  isMadeHere,
  isWithdrawn,
  Label,
  type ControlPlane,
  type Identity,
  type Kind,
  type Resource,
} from '@causeway/resources';
import type { MeshView } from './mesh-view';

/** Label that keeps a resource out of sync, as in Kuma (docs/reference/kds-wire.md §4.2). */
const SYNC_LABEL = 'kuma.io/kds-sync';

/** Label with the role of a Kuma policy; a `producer` policy applies to the clients of its owner in all zones. */
const ROLE_LABEL = 'kuma.io/policy-role';

/** The other end of a stream. */
export interface SyncPeer {
  /** The zone of the stream: on the global the peer, in a zone the zone itself. */
  readonly zone: string;
  /** Whether the peer supports our extensions; if not, it is plain Kuma. */
  readonly causeway: boolean;
  /** Whether it supports kinds that are named by name and group (second kinds of one name); no if absent. */
  readonly groups?: boolean;
}

function isKindSupportedBy({ name, bareName, sync: { peers } }: Kind, { causeway, groups = false }: SyncPeer): boolean {
  if (name !== bareName && !groups) return false;
  return peers === 'all' || peers === (causeway ? 'causeway' : 'kuma');
}

/** Returns whether the resource's label excludes it from sync. */
export function isKeptFromSync({ labels }: Pick<Resource, 'labels'>): boolean {
  return labels[SYNC_LABEL] === 'disabled';
}

/** Whether the global sends resources of this kind to the peer at all. */
export function isKindSentDown(kind: Kind, peer: SyncPeer): boolean {
  return kind.sync.down !== 'nothing' && isKindSupportedBy(kind, peer);
}

/** Whether a zone sends resources of this kind to the peer at all. */
export function isKindSentUp(kind: Kind, peer: SyncPeer): boolean {
  return kind.sync.up && isKindSupportedBy(kind, peer);
}

/**
 * Whether the global sends `resource` to a zone (docs/design.md §5, docs/reference/kds-wire.md §4.2). It sends its own
 * resources and, of kinds that cross zones, those of other visible zones: exported services, producers' policies, and
 * ingress endpoints. Zones of Kuma do not get the MeshIdentity that is created with a Mesh. It never sends a zone its
 * own resources back, nor resources of an unknown or foreign mesh (row T000-07).
 */
export function isSentDown(kind: Kind, resource: Resource, peer: SyncPeer, view: MeshView): boolean {
  if (!isKindSentDown(kind, peer) || isKeptFromSync(resource)) return false;
  // A Kuma zone refuses every proxy without the label kuma.io/workload as soon as a MeshIdentity selects it.
  if (!peer.causeway && resource.labels[Label.madeWith] !== undefined) return false;
  if (kind.scope === 'mesh' && !view.hasMesh(resource.id.mesh)) return false;
  const { zone } = resource.id;
  if (zone === '') return true;
  if (kind.sync.down === 'producers' && resource.labels[ROLE_LABEL] !== 'producer') return false;
  if (!crossesZones(kind.sync) || zone === peer.zone) return false;
  return kind.sync.down === 'everything'
    ? view.isZoneVisible(zone, resource.id.mesh)
    : view.exports(resource, peer.zone);
}

/**
 * Returns whether all zones that support the same extensions, except its own, are sent `resource` or none of them is, in
 * any view: nothing in it selects zones.
 */
export function isSentDownAlike({ spec }: Pick<Resource, 'spec'>): boolean {
  const rule = spec['export'];
  return !isJsonObject(rule) || rule['mode'] !== 'Subset';
}

/** Whether the global can ever have sent a resource of this identity to a zone. */
export function mayHaveBeenSentDown(kind: Kind, id: Identity, peer: SyncPeer): boolean {
  if (!isKindSentDown(kind, peer) || id.zone === peer.zone) return false;
  return id.zone === '' || crossesZones(kind.sync);
}

/** Whether a zone can ever have sent a resource of this identity to the global. */
export function mayHaveBeenSentUp(kind: Kind, id: Identity, peer: SyncPeer): boolean {
  return isKindSentUp(kind, peer) && id.zone === peer.zone;
}

/**
 * Whether a zone sends `resource` to the global: if it was made in this zone (docs/reference/kds-wire.md §4.3), has the
 * fields that other zones need, such as the availability of a service, is not marked as derived by the global, and is no ingress
 * whose proxy is gone (docs/reference/proxies.md).
 */
export function isSentUp(kind: Kind, resource: Resource, peer: SyncPeer, cp: ControlPlane): boolean {
  if (!isKindSentUp(kind, peer) || !isMadeHere(resource, cp) || isKeptFromSync(resource)) return false;
  if (resource.labels[Label.derivedFrom] !== undefined) return false;
  if (crossesZones(kind.sync) && isWithdrawn(resource)) return false;
  return kind.sync.requiredToSend.every((field) => resource.spec[field] !== undefined);
}

/** The receiving end of a stream: the global from a zone, or a zone from the global. */
export type Receiver =
  { readonly role: 'global'; readonly from: string } | { readonly role: 'zone'; readonly zone: string };

/**
 * Returns why a stream may not write `id` at the receiver, or undefined if it may (docs/design.md §5 Ownership). A zone
 * writes only its own resources, the global only those that are not the receiving zone's.
 */
export function ownershipViolation(kind: Kind, id: Identity, receiver: Receiver): string | undefined {
  if (receiver.role === 'global') {
    if (!kind.sync.up) return `a ${kind.name} of a zone is not known on the global`;
    return id.zone === receiver.from ? undefined : `it belongs to zone "${id.zone}"`;
  }
  if (kind.sync.down === 'nothing') return `a ${kind.name} is not known beyond its zone`;
  if (kind.sync.down === 'global' && id.zone !== '') return `it belongs to zone "${id.zone}"`;
  return id.zone === receiver.zone ? `it belongs to this zone, ${receiver.zone}` : undefined;
}

/** Returns whether a stored resource came by the receiver's stream, so that the stream may remove it. */
export function isOwnedByStream(resource: Resource, receiver: Receiver): boolean {
  if (receiver.role === 'global') return resource.id.zone === receiver.from;
  const cp: ControlPlane = { role: 'zone', zone: receiver.zone, federated: true };
  return !isMadeHere(resource, cp);
}
