import type { DataplaneResource } from '@causeway/dataplanes';
import { FieldPath, shortened } from '@causeway/resources';
import { socketAddress, type SocketAddress } from '../model/ingress-endpoint';
import { type RefusedResource, RESOURCE_TYPES } from '@causeway/xds-server';
import { egressListenerName } from '../names/resource-names';

const AT = FieldPath.at('spec').field('networking').field('listeners');

/** Lists the listeners of type ZoneIngress, at which a Dataplane's proxy serves as an ingress of the zone for its mesh. */
export function ingressAddresses({ spec }: DataplaneResource): readonly SocketAddress[] {
  const { listeners = [] } = spec.networking;
  return listeners.flatMap(({ type, address, port }) => {
    const at = type === 'ZoneIngress' ? socketAddress(address, port) : undefined;
    return at ? [at] : [];
  });
}

/**
 * Returns the listeners of a Dataplane that its proxy does not get, with the reason. ZoneEgress listeners are refused: otherwise the author of a
 * service's Dataplane could read what all other services send out of the mesh. Only the operator's ZoneEgress resource makes an egress.
 */
export function unservedListeners({ spec }: DataplaneResource): readonly RefusedResource[] {
  const { listeners = [] } = spec.networking;
  return listeners.flatMap(({ type, address, port }, i) => {
    const violation =
      type === 'ZoneEgress'
        ? AT.index(i)
            .field('type')
            .violation('ZoneEgress: a Dataplane is no egress, declare a ZoneEgress', 'not-allowed')
        : socketAddress(address, port) === undefined
          ? AT.index(i)
              .field('address')
              .violation(`must be an IP address; got ${JSON.stringify(shortened(address, 100))}`, 'wrong-form')
          : undefined;
    if (!violation) return [];
    const name = `${type === 'ZoneEgress' ? 'egress' : 'ingress'}:${address}:${port}`;
    return [{ type: RESOURCE_TYPES.listener, name, violations: [violation], isDeclared: true }];
  });
}

/**
 * Returns the meshes whose traffic an egress blocks although they have services outside the mesh: the egress has no identity there that clients
 * accept.
 */
export function unservedMeshes(at: SocketAddress, meshes: readonly string[]): readonly RefusedResource[] {
  return meshes.map((mesh) => ({
    type: RESOURCE_TYPES.listener,
    name: `${egressListenerName(at)} ${mesh}`,
    violations: [
      FieldPath.at(`Mesh ${mesh}`).violation(
        'has no identity for this egress: no MeshIdentity that this zone signs for, and no key of Mesh.mtls in this zone',
        'required',
      ),
    ],
    isDeclared: true,
  }));
}
