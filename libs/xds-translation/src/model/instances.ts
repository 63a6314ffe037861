import { servicePorts } from '@causeway/kinds';
import { type DataplaneResource } from '@causeway/dataplanes';
import type { Resource } from '@causeway/resources';
import { endpointsAt, type ServiceFacts } from './destination';
import { readEndpoints } from './external-target';
import type { SocketAddress } from './ingress-endpoint';

/** A process of a service, or a server outside the mesh, at the address of its own. */
interface ServiceInstance extends SocketAddress {
  readonly ready: boolean;
  /** It takes connections without TLS. */
  readonly plaintext: boolean;
  /** Absent outside the mesh. */
  readonly dataplane?: DataplaneResource;
}

/** The instances behind one port of a service. */
export interface PortInstances {
  readonly port: number;
  /** The number as text where the port has no name. */
  readonly name: string;
  readonly protocol: string;
  /** By address where they are one Dataplane's; an address that several Dataplanes have is there for each. */
  readonly instances: readonly ServiceInstance[];
}

/** Inputs of `portInstances` besides the service. */
export interface InstanceFacts extends Pick<ServiceFacts, 'listDataplanes' | 'access' | 'zone'> {
  /** The MeshServices that a MeshMultiZoneService stands for. */
  readonly members: readonly Resource[];
}

/**
 * The instances of a service at their own addresses: those of this zone, and the endpoints of a MeshExternalService. Services of other
 * zones have none: they are entered through their ingress, which knows them by their TLS only.
 */
export function portInstances(service: Resource, facts: InstanceFacts): readonly PortInstances[] {
  const { kind } = service.id;
  if (kind === 'MeshExternalService') return externalInstances(service);
  if (kind === 'MeshService') return localInstances(service, facts);
  const members = facts.members.map((member) => localInstances(member, facts));
  return servicePorts(service).map(({ number, section, protocol }) => ({
    port: number,
    name: section,
    protocol,
    instances: members.flatMap((ports) => ports.find(({ port }) => port === number)?.instances ?? []),
  }));
}

function localInstances(service: Resource, { zone, listDataplanes, access }: InstanceFacts): readonly PortInstances[] {
  const dataplanes = service.id.zone === zone ? [...listDataplanes(service)] : [];
  return servicePorts(service).map(({ number, section, protocol, target }) => ({
    port: number,
    name: section,
    protocol,
    instances: dataplanes.flatMap((dataplane) =>
      endpointsAt(dataplane, target, access).map(({ address, port, ready, takesPlaintext: plaintext }) => ({
        address,
        port,
        ready,
        plaintext,
        dataplane,
      })),
    ),
  }));
}

/** TLS to servers outside is no matter of the mesh: whoever goes there without a proxy speaks what the server takes. */
function externalInstances(service: Resource): readonly PortInstances[] {
  const instances = readEndpoints(service.spec).map(({ host, port }) => ({
    address: host,
    port,
    ready: true,
    plaintext: true,
  }));
  return servicePorts(service).map(({ number, section, protocol }) => ({
    port: number,
    name: section,
    protocol,
    instances,
  }));
}
