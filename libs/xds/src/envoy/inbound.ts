import { inboundsOf, type DataplaneResource } from '@causeway/controllers';
import { labelValue } from '@causeway/resources';
import { PROTOCOLS, type Destination } from '../model/destination';
import { socketAddress, type SocketAddress } from '../model/zone-entrance';
import { inboundListenerName, processClusterName } from './names';

/** An inbound of a Dataplane: where it listens, and where its process does. */
export interface Inbound {
  readonly at: SocketAddress;
  readonly process: SocketAddress;
  readonly protocol: Destination['protocol'];
  /** The cluster of the process. */
  readonly clusterName: string;
}

/** The inbounds that a Dataplane's proxy serves; a process is on loopback unless the inbound says otherwise. */
export function servedInbounds(dataplane: DataplaneResource): readonly Inbound[] {
  const { address } = dataplane.spec.networking;
  const found = inboundsOf(dataplane).flatMap((inbound) => {
    const { port, servicePort = port, serviceAddress = '127.0.0.1', protocol, tags = {} } = inbound;
    const tagged = PROTOCOLS.find((known) => known === labelValue(tags, 'kuma.io/protocol'));
    const at = socketAddress(inbound.address ?? address, port);
    const process = socketAddress(serviceAddress, servicePort);
    // An inbound in front of itself would call itself for ever.
    const isLoop = process?.address === at?.address && process?.port === at?.port;
    return at && process && !isLoop
      ? [[inboundListenerName(at), inboundTo(at, process, protocol ?? tagged ?? 'tcp')] as const]
      : [];
  });
  return [...new Map(found).values()];
}

/** Where a Dataplane's proxy serves as an ingress of the zone for its mesh: its listeners of type ZoneIngress. */
export function ingressAddresses({ spec }: DataplaneResource): readonly SocketAddress[] {
  const { listeners = [] } = spec.networking;
  return listeners.flatMap(({ type, address, port }) => {
    const at = type === 'ZoneIngress' ? socketAddress(address, port) : undefined;
    return at ? [at] : [];
  });
}

function inboundTo(at: SocketAddress, process: SocketAddress, protocol: Destination['protocol']): Inbound {
  const isHttp2 = protocol === 'http2' || protocol === 'grpc';
  return { at, process, protocol, clusterName: processClusterName(process, isHttp2) };
}
