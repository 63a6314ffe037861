import { inboundsOf, type DataplaneResource } from '@causeway/controllers';
import { labelValue } from '@causeway/resources';
import { protocols } from '@causeway/kinds';
import type { Destination } from '../../model/destination';
import { socketAddress, type SocketAddress } from '../../model/zone-entrance';
import { inboundListenerName, processClusterName } from '../names';

/** An inbound of a Dataplane: where it listens, and where its process does. */
export interface Inbound {
  readonly at: SocketAddress;
  readonly process: SocketAddress;
  readonly protocol: Destination['protocol'];
  /** The cluster of the process. */
  readonly clusterName: string;
}

/** The inbounds that a Dataplane's proxy serves, each listener once. */
export interface ServedInbounds {
  readonly all: readonly Inbound[];
  readonly byListener: ReadonlyMap<string, Inbound>;
  readonly byCluster: ReadonlyMap<string, Inbound>;
}

const NONE: ServedInbounds = { all: [], byListener: new Map(), byCluster: new Map() };
const servedBefore = new WeakMap<DataplaneResource, ServedInbounds>();

/** The inbounds of a stored state of a Dataplane; found once, for each of its resources asks. */
export function servedInbounds(dataplane: DataplaneResource | undefined): ServedInbounds {
  if (!dataplane) return NONE;
  const before = servedBefore.get(dataplane);
  if (before) return before;
  const byListener = listenersOf(dataplane);
  const all = [...byListener.values()];
  const served = { all, byListener, byCluster: new Map(all.map((each) => [each.clusterName, each])) };
  servedBefore.set(dataplane, served);
  return served;
}

/** What of a Dataplane's inbounds services and their ports select by. */
export function selectedBy(dataplane: DataplaneResource | undefined): readonly unknown[] {
  if (!dataplane) return [];
  return inboundsOf(dataplane).map(({ port, name, tags, state }) => [port, name, tags, state === 'Ignored']);
}

/** By the name of the listener; a process is on loopback unless the inbound says otherwise. */
function listenersOf(dataplane: DataplaneResource): ReadonlyMap<string, Inbound> {
  const { address } = dataplane.spec.networking;
  const found = inboundsOf(dataplane).flatMap((inbound) => {
    const { port, servicePort = port, serviceAddress = '127.0.0.1', protocol, tags = {} } = inbound;
    const tagged = protocols.find((known) => known === labelValue(tags, 'kuma.io/protocol'));
    const at = socketAddress(inbound.address ?? address, port);
    const process = socketAddress(serviceAddress, servicePort);
    // An inbound in front of itself would call itself for ever.
    const isLoop = process?.address === at?.address && process?.port === at?.port;
    return at && process && !isLoop
      ? [[inboundListenerName(at), inboundTo(at, process, protocol ?? tagged ?? 'tcp')] as const]
      : [];
  });
  return new Map(found);
}

function inboundTo(at: SocketAddress, process: SocketAddress, protocol: Destination['protocol']): Inbound {
  const isHttp2 = protocol === 'http2' || protocol === 'grpc';
  return { at, process, protocol, clusterName: processClusterName(process, isHttp2) };
}
