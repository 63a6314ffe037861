import {
  crossesZones,
  isMadeHere,
  type ControlPlane,
  type Identity,
  type Kind,
  type Resource,
} from '@causeway/resources';
import type { MeshView } from './mesh-view';

/** Label by which a resource is kept out of sync, as in Kuma (kds.md §4.2). */
const SYNC_LABEL = 'kuma.io/kds-sync';

/** Label that says whom a policy of Kuma is for; `producer` is for the clients of its owner, wherever they are. */
const ROLE_LABEL = 'kuma.io/policy-role';

/** Who is at the other end of a stream. */
export interface SyncPeer {
  /** The zone of the stream: the peer's on the global, our own on a zone. */
  readonly zone: string;
  /** Whether it speaks our extensions; else it is plain Kuma. */
  readonly causeway: boolean;
}

function isKindSupportedBy({ sync: { peers } }: Kind, { causeway }: SyncPeer): boolean {
  return peers === 'all' || peers === (causeway ? 'causeway' : 'kuma');
}

/** Whether kinds like this are told to zones at all. */
export function isKindSentDown(kind: Kind, peer: SyncPeer): boolean {
  return kind.sync.down !== 'nothing' && isKindSupportedBy(kind, peer);
}

/** Whether kinds like this are told to the global at all. */
export function isKindSentUp(kind: Kind, peer: SyncPeer): boolean {
  return kind.sync.up && isKindSupportedBy(kind, peer);
}

/**
 * Whether the global gives `resource` to a zone (design.md §5, kds.md §4.2): its own, and of kinds that cross zones
 * those of other zones that are enabled and present, of policies only a producer's; never a zone its own back, nor what belongs to no known mesh.
 */
export function isSentDown(kind: Kind, resource: Resource, peer: SyncPeer, view: MeshView): boolean {
  if (!isKindSentDown(kind, peer) || resource.labels[SYNC_LABEL] === 'disabled') return false;
  if (kind.scope === 'mesh' && !view.meshes.has(resource.id.mesh)) return false;
  const { zone } = resource.id;
  if (zone === '') return true;
  if (kind.sync.down === 'producers' && resource.labels[ROLE_LABEL] !== 'producer') return false;
  return crossesZones(kind.sync) && zone !== peer.zone && view.exports(resource, peer.zone);
}

/** Whether the global may ever have given a zone a resource of this identity. */
export function mayHaveBeenSentDown(kind: Kind, id: Identity, peer: SyncPeer): boolean {
  if (!isKindSentDown(kind, peer) || id.zone === peer.zone) return false;
  return id.zone === '' || crossesZones(kind.sync);
}

/** Whether a zone may ever have given the global a resource of this identity. */
export function mayHaveBeenSentUp(kind: Kind, id: Identity, peer: SyncPeer): boolean {
  return isKindSentUp(kind, peer) && id.zone === peer.zone;
}

/**
 * Whether a zone gives `resource` to the global: what was made in this zone (kds.md §4.3), once this control plane has
 * said of it what others must know, such as whether a service can be reached.
 */
export function isSentUp(kind: Kind, resource: Resource, peer: SyncPeer, cp: ControlPlane): boolean {
  if (!isKindSentUp(kind, peer) || !isMadeHere(resource, cp) || resource.labels[SYNC_LABEL] === 'disabled')
    return false;
  return kind.sync.toldWith.every((field) => resource.spec[field] !== undefined);
}
