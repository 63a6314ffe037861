import { listInbounds, type DataplaneResource } from '@causeway/dataplanes';
import { serviceAddressViolation, isOwnServiceAddress, protocols } from '@causeway/kinds';
import { FieldPath, labelValue } from '@causeway/resources';
import type { Destination } from '../model/destination';
import { socketAddress, type SocketAddress } from '../model/ingress-endpoint';
import { type RefusedResource, RESOURCE_TYPES } from '@causeway/xds-server';
import { inboundListenerName, processClusterName } from '../names/resource-names';

/** An inbound of a Dataplane: the address of its listener, and the address of its process. */
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

const AT = FieldPath.at('spec').field('networking').field('inbound');

const NONE: ServedInbounds = { all: [], byListener: new Map(), byCluster: new Map() };
const servedBefore = new WeakMap<DataplaneResource, ServedInbounds>();

/** Returns the inbounds of a stored state of a Dataplane. Computed once, because each resource of the Dataplane needs them. */
export function servedInbounds(dataplane: DataplaneResource | undefined): ServedInbounds {
  if (!dataplane) return NONE;
  const before = servedBefore.get(dataplane);
  if (before) return before;
  const served = servedBy(listListeners(dataplane));
  servedBefore.set(dataplane, served);
  return served;
}

const ownBefore = new WeakMap<ServedInbounds, ServedInbounds>();

/**
 * Returns the inbounds that lead to the proxy's own host. Used for proxies without an agent: they would dial any address that the author of the
 * Dataplane names.
 */
export function ownInbounds(served: ServedInbounds): ServedInbounds {
  const before = ownBefore.get(served);
  if (before) return before;
  const all = served.all.filter(isOwn);
  const own = all.length === served.all.length ? served : servedBy(all);
  ownBefore.set(served, own);
  return own;
}

/** Returns the inbounds of a Dataplane that a proxy without an agent does not get, with the reason. */
export function foreignInbounds(dataplane: DataplaneResource): readonly RefusedResource[] {
  const inbounds = listInbounds(dataplane);
  return servedInbounds(dataplane)
    .all.filter((each) => !isOwn(each))
    .map(({ at, process }) => {
      const i = inbounds.findLastIndex(
        ({ address = dataplane.spec.networking.address, port }) => address === at.address && port === at.port,
      );
      const violations = [serviceAddressViolation(process.address, AT.index(i))];
      return { type: RESOURCE_TYPES.listener, name: inboundListenerName(at), violations, isDeclared: true };
    });
}

function isOwn({ at, process }: Inbound): boolean {
  return isOwnServiceAddress(process.address, at.address);
}

/** Of several inbounds with one listener, the last one wins. */
function servedBy(inbounds: readonly Inbound[]): ServedInbounds {
  const byListener = new Map(inbounds.map((each) => [inboundListenerName(each.at), each]));
  const all = [...byListener.values()];
  return { all, byListener, byCluster: new Map(all.map((each) => [each.clusterName, each])) };
}

/** The address of a process is loopback unless the inbound names another. */
function listListeners(dataplane: DataplaneResource): readonly Inbound[] {
  const { address } = dataplane.spec.networking;
  return listInbounds(dataplane).flatMap((inbound) => {
    const { port, servicePort = port, serviceAddress = '127.0.0.1', protocol, tags = {} } = inbound;
    const tagged = protocols.find((known) => known === labelValue(tags, 'kuma.io/protocol'));
    const at = socketAddress(inbound.address ?? address, port);
    const process = socketAddress(serviceAddress, servicePort);
    // An inbound whose process is the inbound itself would call itself forever.
    const isLoop = process?.address === at?.address && process?.port === at?.port;
    return at && process && !isLoop ? [inboundTo(at, process, protocol ?? tagged ?? 'tcp')] : [];
  });
}

function inboundTo(at: SocketAddress, process: SocketAddress, protocol: Destination['protocol']): Inbound {
  const isHttp2 = protocol === 'http2' || protocol === 'grpc';
  return { at, process, protocol, clusterName: processClusterName(process, isHttp2) };
}
