import { servicePorts } from '@causeway/kinds';
import { type DataplaneResource } from '@causeway/dataplanes';
import type { Resource } from '@causeway/resources';
import { endpointsAt, type ServiceFacts } from './destination';
import { readEndpoints } from './external-target';
import type { SocketAddress } from './ingress-endpoint';

/** An instance of a service, or a server outside the mesh, at its own address. */
interface ServiceInstance extends SocketAddress {
  readonly ready: boolean;
  /** Whether it accepts connections without TLS. */
  readonly plaintext: boolean;
  /** Absent for servers outside the mesh. */
  readonly dataplane?: DataplaneResource;
}

/** The instances behind one port of a service. */
export interface PortInstances {
  readonly port: number;
  /** The port's name, or its number as text. */
  readonly name: string;
  readonly protocol: string;
  /** Instances of one Dataplane are listed once for each address; an address that several Dataplanes share is listed for each of them. */
  readonly instances: readonly ServiceInstance[];
}

/** Inputs of `portInstances` besides the service. */
export interface InstanceFacts extends Pick<ServiceFacts, 'listDataplanes' | 'access' | 'zone'> {
  /** The member MeshServices of a MeshMultiZoneService. */
  readonly members: readonly Resource[];
}

/**
 * Returns the instances of a service at their own addresses: those in this zone, or the endpoints of a MeshExternalService. Services of other zones
 * have none: they are reached through an ingress, which routes by TLS server name only.
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

/** TLS to servers outside is not the mesh's concern here: a client without a proxy speaks the protocol of the server. */
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
