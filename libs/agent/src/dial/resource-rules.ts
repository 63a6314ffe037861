import { isIPv6 } from 'node:net';
import { Cluster, Cluster_DiscoveryType, Listener, TrafficDirection } from '@causeway/proto-gen';
import { checkMessage, RESOURCE_TYPES, type EncodedResource } from '@causeway/xds-server';
import { isProcessCluster, NO_CLUSTER, parseXdsName, processClusterName } from '@causeway/xds-translation';
import type { LocalAddress } from '../capture/local-address';
import { isSameAddress, isSameSocketAddress, processAddress, type DialFacts, type OwnService } from './dial-facts';
import { ResourceParts } from './resource-parts';

const { cluster, hostName, listener } = RESOURCE_TYPES;
const ANY_ADDRESS: readonly string[] = ['0.0.0.0', '::'];
const AGGREGATE = 'envoy.extensions.clusters.aggregate.v3.ClusterConfig';

/**
 * Returns why this machine refuses a resource; undefined if it accepts it. Linear in its size. Only known forms of
 * addresses are accepted. An inbound may connect only to the process of its own service. Forbidden hosts of other
 * clusters are removed by `removeForbiddenHosts`.
 */
export function findRefusal(resource: EncodedResource, facts: DialFacts): string | undefined {
  const { type, name, bytes } = resource;
  // A host name contains no targets.
  if (type === hostName) return undefined;
  const parts = new ResourceParts(type, name, facts.files);
  const [problem] = checkMessage(type, bytes, parts.visit);
  if (problem) return `${problem.field}: ${problem.reason}`;
  if (type === cluster) return findClusterRefusal(Cluster.decode(bytes), facts);
  return type === listener ? findListenerRefusal(Listener.decode(bytes), parts, facts) : undefined;
}

function findClusterRefusal(found: Cluster, facts: DialFacts): string | undefined {
  const { name, clusterDiscoveryType: discovery, edsClusterConfig, loadAssignment } = found;
  if (discovery?.$case === 'clusterType') {
    const { typeUrl = '' } = discovery.value.typedConfig ?? {};
    if (!typeUrl.endsWith(`/${AGGREGATE}`))
      return `cluster_type: ${JSON.stringify(discovery.value.name)} is not served`;
  }
  const { EDS, STATIC, STRICT_DNS } = Cluster_DiscoveryType;
  const type = discovery?.$case === 'type' ? discovery.value : STATIC;
  if (type !== EDS && type !== STATIC && type !== STRICT_DNS) return 'type: must be EDS, STATIC or STRICT_DNS';
  const source = edsClusterConfig?.edsConfig?.configSourceSpecifier?.$case;
  if (edsClusterConfig && source !== undefined && source !== 'ads' && source !== 'self')
    return 'eds_cluster_config: endpoints must come from the agent';
  if (!isProcessCluster(name)) return undefined;
  const places = loadAssignment ? listAddresses(loadAssignment) : [];
  const isProcess = (service: OwnService): boolean => {
    const process = processAddress(service);
    const isNamed = [false, true].some((isHttp2) => processClusterName(process, isHttp2) === name);
    return isNamed && places.every((at) => at !== undefined && isSameSocketAddress(at, process));
  };
  if (type === STATIC && facts.services.some(isProcess)) return undefined;
  return `agent.yaml names no service with the process ${places.map(formatAddress).join(', ') || name}: inbounds lead to ${describeProcesses(facts)}`;
}

function findListenerRefusal(found: Listener, parts: ResourceParts, facts: DialFacts): string | undefined {
  // An ingress has no inbound: it forwards to hosts of the zone, each of which is checked.
  if (facts.address === undefined) return undefined;
  const { name, trafficDirection, address, additionalAddresses, useOriginalDst } = found;
  const places = [address, ...additionalAddresses.map((each) => each.address)].flatMap((each) =>
    each?.address?.$case === 'socketAddress' ? [readSocketAddress(each.address.value)] : [],
  );
  const own = places.map((at) => facts.services.find((one) => at !== undefined && isSameSocketAddress(one.at, at)));
  const claims = parseXdsName(name)?.prefix === 'inbound' || trafficDirection === TrafficDirection.INBOUND;
  if (!claims && own.every((one) => one === undefined)) return findUnknownAddress(places, facts);
  const [service] = own;
  if (!service || own.length > 1)
    return `address: agent.yaml names no service at ${places.map(formatAddress).join(', ')}: inbounds are ${facts.services.map((one) => formatAddress(one.at)).join(', ') || 'none'}`;
  const allowed: readonly string[] = [false, true].map((isHttp2) =>
    processClusterName(processAddress(service), isHttp2),
  );
  const other = [...parts.clusters].find((one) => one !== NO_CLUSTER && !allowed.includes(one));
  if (other !== undefined)
    return `leads to the cluster ${JSON.stringify(other.slice(0, 100))}: the inbound at ${formatAddress(service.at)} leads to ${formatAddress(service.process)} (agent.yaml)`;
  const loose = parts.dynamicPart ?? (useOriginalDst === true ? 'use_original_dst' : undefined);
  return loose && `${loose}: an inbound leads to ${formatAddress(service.process)} only (agent.yaml)`;
}

/** Refuses listeners at the address of the Dataplane that agent.yaml does not name: other machines reach them. */
function findUnknownAddress(places: readonly (LocalAddress | undefined)[], facts: DialFacts): string | undefined {
  const { address: own, listens } = facts;
  if (own === undefined) return undefined;
  for (const at of places) {
    if (!at) return 'address: its port must be a number';
    if (listens.some((one) => isSameSocketAddress(one, at))) continue;
    if (ANY_ADDRESS.includes(at.address) || isSameAddress(at.address, own))
      return `address: nothing of agent.yaml listens at ${formatAddress(at)}`;
  }
  return undefined;
}

function listAddresses({ endpoints }: NonNullable<Cluster['loadAssignment']>): readonly (LocalAddress | undefined)[] {
  return endpoints.flatMap(({ lbEndpoints }) =>
    lbEndpoints.map(({ hostIdentifier }) => {
      const at = hostIdentifier?.$case === 'endpoint' ? hostIdentifier.value.address?.address : undefined;
      return at?.$case === 'socketAddress' ? readSocketAddress(at.value) : undefined;
    }),
  );
}

interface WireAddress {
  readonly address: string;
  readonly portSpecifier: { readonly $case: string; readonly value: string | number } | undefined;
}

/** Converts a socket address; undefined if it has no numeric port. */
export function readSocketAddress({ address, portSpecifier }: WireAddress): LocalAddress | undefined {
  const port = portSpecifier?.$case === 'portValue' ? portSpecifier.value : undefined;
  return typeof port === 'number' ? { address, port } : undefined;
}

function describeProcesses({ services }: DialFacts): string {
  return services.map(({ process }) => formatAddress(process)).join(', ') || 'nothing, it names none';
}

/** Formats `address:port`. */
export function formatAddress(at: LocalAddress | undefined): string {
  if (!at) return 'no place';
  return `${isIPv6(at.address) ? `[${at.address}]` : at.address}:${at.port}`;
}
