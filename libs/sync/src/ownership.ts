import { isMadeHere, type ControlPlane, type Identity, type Kind, type Resource } from '@causeway/resources';

/** Who receives on a stream: the global from a zone, or a zone from the global. */
export type Receiver =
  { readonly role: 'global'; readonly from: string } | { readonly role: 'zone'; readonly zone: string };

/**
 * Why a stream may not write `id` here, or undefined when it may (design.md §5 Ownership): a zone writes only what is
 * its own, and the global only what is not this zone's.
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

/** Whether a resource held here came by the receiver's stream, so that the stream may remove it. */
export function isOwnedByStream(resource: Resource, receiver: Receiver): boolean {
  if (receiver.role === 'global') return resource.id.zone === receiver.from;
  const cp: ControlPlane = { role: 'zone', zone: receiver.zone, federated: true };
  return !isMadeHere(resource, cp);
}
