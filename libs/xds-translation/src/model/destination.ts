import { listInbounds, type DataplaneInbound, type DataplaneResource } from '@causeway/dataplanes';
import { servicePorts, type ServicePort } from '@causeway/kinds';
import { isIP } from 'node:net';
import { Label, isJsonArray, isJsonObject, type Identity, type Labels, type Resource } from '@causeway/resources';
import type { HostAddresses, HostSource } from '../resolution/dialled-hosts';
import { externalTarget, type ExternalFacts, type ExternalTarget } from './external-target';
import { hashSni, kriSni, type ServiceShortName } from './sni';
import type { EgressWay } from './zone-egress';
import { compareAddresses, hostAddress, type SocketAddress, type ZoneIngressEndpoint } from './ingress-endpoint';

/** One port of a service, as the proxies of one zone see it. */
export interface Destination {
  /** The port's KRI: unique in the mesh, made of the identity only, so that no label can take another service's name. */
  readonly name: string;
  readonly service: Identity;
  /** Of the service. */
  readonly labels: Labels;
  readonly port: number;
  /** The name of the port, or its number as text where it has none. */
  readonly section: string;
  readonly protocol: ServicePort['protocol'];
  /** Empty while the service has no address. */
  readonly vip: string;
  /** Names by which this zone's clients reach the service; sorted. */
  readonly hostnames: readonly string[];
  /** The SPIFFE ids of the servers; a server must have one of them; sorted. */
  readonly identities: readonly string[];
  /** Server names in both forms; a form is empty where the service has no name of it. */
  readonly sni: { readonly kri: string; readonly hash: string };
  /** µs since 1970; 0 = unknown. Of two services that claim one server name or address, the older gets it. */
  readonly createdAt: number;
  /** Whether some of its endpoints are in this zone, ready or not: then this zone's ingress serves it. */
  readonly servedHere: boolean;
  readonly local: readonly LocalEndpoint[];
  /** Endpoints of this zone whose addresses are host names. */
  readonly localNames: readonly LocalEndpoint[];
  /** Zones with endpoints, by name. */
  readonly remote: readonly RemoteZone[];
  /** The addresses of its host names and of the endpoints of a MeshExternalService; absent where it has none. */
  readonly hosts?: ReadonlyMap<string, HostAddresses>;
  /** Set for a MeshExternalService only. */
  readonly external?: ExternalTarget;
  /** Set for a MeshExternalService that is reached through the zone's egress. */
  readonly egress?: EgressWay;
}

/** The fields that change when endpoints come and go. */
export const ENDPOINT_FIELDS = ['local', 'localNames', 'remote', 'identities', 'hosts'] as const;
/** The fields by which clients find a destination: no cluster and no endpoints contain them. */
export const NAME_FIELDS = ['vip', 'hostnames', 'labels', 'createdAt'] as const;

/** A destination without its endpoints: it stays equal when endpoints come and go. */
export type DestinationConfig = Omit<Destination, (typeof ENDPOINT_FIELDS)[number]>;
/** A destination without its names: what its clusters and endpoints contain. */
export type DestinationUpstream = Omit<Destination, (typeof NAME_FIELDS)[number]>;

/** An inbound of a Dataplane of this zone. */
export interface LocalEndpoint extends SocketAddress {
  readonly ready: boolean;
  /** Whether proxies connect to it without TLS. */
  readonly plaintext: boolean;
  /** Whether it accepts connections without TLS, even if proxies use TLS. */
  readonly takesPlaintext: boolean;
}

/** Another zone that serves a destination; the model has the addresses of its ingress. */
export interface RemoteZone {
  readonly zone: string;
  /** The number of healthy instances there, to an eighth (`spec.instances`); 1 where the zone publishes none. */
  readonly instances: number;
  readonly sni: 'kri' | 'hash';
  readonly depreferred: boolean;
  /** All addresses of the zone, set where an address of the destination is a host name: its cluster then contains them inline (`hasNames`). */
  readonly at?: readonly SocketAddress[];
}

/** Reports whether some address of a destination is a host name, which proxies resolve themselves. */
export function hasNames({ localNames, remote }: Pick<Destination, 'localNames' | 'remote'>): boolean {
  return localNames.length > 0 || remote.some(({ at }) => at !== undefined);
}

/** Returns the known addresses of a host of a destination; empty while unknown. */
export function addressesOfHost({ hosts }: Pick<Destination, 'hosts'>, host: string): readonly string[] {
  return hosts?.get(host)?.addresses ?? [];
}

/** Returns the endpoints of a destination in this zone, host names replaced by their addresses. */
export function localAddresses(
  destination: Pick<Destination, 'local' | 'localNames' | 'hosts'>,
): readonly LocalEndpoint[] {
  const { local, localNames } = destination;
  if (localNames.length === 0) return local;
  const resolved = localNames.flatMap((each) =>
    addressesOfHost(destination, each.address).map((address) => ({ ...each, address })),
  );
  return distinct([...local, ...resolved]);
}

/** Reports whether no endpoint of a destination takes TLS. */
export function isPlaintextOnly({
  local,
  localNames,
  remote,
}: Pick<Destination, 'local' | 'localNames' | 'remote'>): boolean {
  const here = [...local, ...localNames];
  return here.length > 0 && remote.length === 0 && here.every(({ plaintext }) => plaintext);
}

/** The parts of access that decide about destinations. */
export interface DestinationAccess {
  isPlaintext(dataplane: DataplaneResource, port: number): boolean;
  takesPlaintext(dataplane: DataplaneResource, port: number): boolean;
  isOff(mesh: string): boolean;
  isRevoked(mesh: string, id: string): boolean;
}

/** Inputs for the destinations of a service, besides the service. */
export interface ServiceFacts {
  readonly zone: string;
  /** The Dataplanes that a MeshService of this zone selects. */
  readonly listDataplanes: (service: Resource) => Iterable<DataplaneResource>;
  /** The member MeshServices of a MeshMultiZoneService. */
  readonly listMembers: (service: Resource) => readonly Resource[];
  readonly findIngressEndpoint: (mesh: string, zone: string) => ZoneIngressEndpoint | undefined;
  readonly access: DestinationAccess;
  readonly hosts: Pick<HostSource, 'resolve'>;
  /** The facts about the MeshExternalService, if the service is one. */
  readonly external: ExternalFacts;
  readonly findEgress: (mesh: string, name: string) => EgressWay | undefined;
}

const SHORT_NAMES: Readonly<Record<string, ServiceShortName>> = {
  MeshService: 'msvc',
  MeshMultiZoneService: 'mzsvc',
  MeshExternalService: 'extsvc',
};

/** Kinds that have destinations. */
export const SERVICE_KINDS: readonly string[] = Object.keys(SHORT_NAMES);

/** Maximum number of identities of a destination that are read: the limit of the kinds. */
const MAX_IDENTITIES = 1_024;
/** Maximum number of hostnames of a service that are read. */
const MAX_HOSTNAMES = 1_024;

/** Returns the destinations of a service, one for each port. Linear in its ports, Dataplanes and members. */
export function toDestinations(service: Resource, facts: ServiceFacts): readonly Destination[] {
  const { id, creationOrder } = service;
  const parts = toParts(service, facts);
  const hostnames = readHostnames(service);
  return servicePorts(service).map((port): Destination => {
    const { local, remote, identities } = parts(port);
    const subject = sniSubject(service, port);
    const here = distinct(local);
    const localNames = here.filter(({ address }) => isIP(address) === 0);
    const isNamed =
      localNames.length > 0 ||
      remote.some(({ zone }) => (facts.findIngressEndpoint(id.mesh, zone)?.names.length ?? 0) > 0);
    const isOutside = id.kind === 'MeshExternalService';
    const name = ['kri', subject.shortName, id.mesh, id.zone, subject.namespace, id.name, port.section].join('_');
    // Without TLS an egress could not identify the caller.
    const egress = isOutside && !facts.access.isOff(id.mesh) ? facts.findEgress(id.mesh, name) : undefined;
    const { secret, givesKey } = facts.external;
    const external = isOutside
      ? externalTarget(service.spec, { secret, givesKey: (source) => egress !== undefined || givesKey(source) })
      : undefined;
    const hosts = [...localNames.map(({ address }) => address), ...(external?.endpoints ?? []).map(({ host }) => host)];
    return {
      name,
      service: id,
      labels: service.labels,
      port: port.number,
      section: port.section,
      protocol: port.protocol,
      vip: readVip(service),
      hostnames,
      identities: [...new Set(identities)].sort().slice(0, MAX_IDENTITIES),
      sni: { kri: kriSni(subject) ?? '', hash: hashSni(subject) ?? '' },
      createdAt: creationOrder,
      // Without TLS there is no server name by which the ingress could route.
      servedHere: local.length > 0 && !facts.access.isOff(id.mesh),
      local: here.filter(({ address }) => isIP(address) !== 0),
      localNames,
      remote: isNamed ? withAddresses(id.mesh, remote, facts) : remote,
      ...(hosts.length > 0 && { hosts: new Map(hosts.map((host) => [host, facts.hosts.resolve(host)])) }),
      ...(external && { external }),
      ...(egress && { egress }),
    };
  });
}

function withAddresses(mesh: string, remote: readonly RemoteZone[], facts: ServiceFacts): readonly RemoteZone[] {
  return remote.map((each) => {
    const { addresses = [], names = [] } = facts.findIngressEndpoint(mesh, each.zone) ?? {};
    return { ...each, at: [...addresses, ...names] };
  });
}

type Parts = Pick<Destination, 'local' | 'remote' | 'identities'>;
const NOTHING: Parts = { local: [], remote: [], identities: [] };

function toParts(service: Resource, facts: ServiceFacts): (port: ServicePort) => Parts {
  if (service.id.kind === 'MeshService') return meshServiceParts(service, facts);
  if (service.id.kind !== 'MeshMultiZoneService') return () => NOTHING;
  const members = facts.listMembers(service).map((member) => {
    const ports = new Map(servicePorts(member).map((port) => [port.number, port]));
    const away = member.id.zone !== facts.zone && member.spec['state'] === 'Unavailable';
    return { ports, parts: away ? () => NOTHING : meshServiceParts(member, facts) };
  });
  return ({ number }) => {
    const found = members.flatMap(({ ports, parts }) => {
      const port = ports.get(number);
      return port ? [parts(port)] : [];
    });
    return {
      local: found.flatMap(({ local }) => local),
      remote: mergeZones(found.flatMap(({ remote }) => remote)),
      identities: found.flatMap(({ identities }) => identities),
    };
  };
}

function meshServiceParts(service: Resource, facts: ServiceFacts): (port: ServicePort) => Parts {
  const identities = readIdentities(service).filter((id) => !facts.access.isRevoked(service.id.mesh, id));
  if (service.id.zone === facts.zone) {
    const dataplanes = [...facts.listDataplanes(service)];
    return ({ target }) => ({
      local: dataplanes.flatMap((each) => endpointsAt(each, target, facts.access)),
      remote: [],
      identities,
    });
  }
  const { mesh, zone } = service.id;
  const ingressEndpoint = zone === '' || facts.access.isOff(mesh) ? undefined : facts.findIngressEndpoint(mesh, zone);
  if (!ingressEndpoint) return () => ({ ...NOTHING, identities });
  const { sni, depreferred } = ingressEndpoint;
  return () => ({ local: [], remote: [{ zone, instances: countInstances(service), sni, depreferred }], identities });
}

/** An inbound with the address at which other proxies reach it. */
interface AddressedInbound extends SocketAddress {
  readonly inbound: DataplaneInbound;
  readonly ready: boolean;
}

type ByTarget = ReadonlyMap<number | string, readonly AddressedInbound[]>;

/** Cached, because a Dataplane may have many inbounds, each of which may belong to a service that reads this. */
const addressedBefore = new WeakMap<DataplaneResource, ByTarget>();
const MANY_INBOUNDS = 4;

/** Returns the endpoints of a Dataplane for a target port. */
export function endpointsAt(
  dataplane: DataplaneResource,
  target: number | string,
  access: ServiceFacts['access'],
): readonly LocalEndpoint[] {
  const found = addressedInbounds(dataplane).get(target) ?? [];
  return found.map(({ address, port, ready, inbound }) => {
    const [plaintext, takesPlaintext] = [
      access.isPlaintext(dataplane, inbound.port),
      access.takesPlaintext(dataplane, inbound.port),
    ];
    return { address, port, ready, plaintext, takesPlaintext };
  });
}

/** Reports whether a target port selects an inbound of a Dataplane, given by its own port. */
export function isTargeted(dataplane: DataplaneResource, target: number | string, port: number): boolean {
  return (addressedInbounds(dataplane).get(target) ?? []).some(({ inbound }) => inbound.port === port);
}

/** Returns the inbounds of a Dataplane by port and by name, without ignored ones. */
function addressedInbounds(dataplane: DataplaneResource): ByTarget {
  const before = addressedBefore.get(dataplane);
  if (before) return before;
  const { address, advertisedAddress } = dataplane.spec.networking;
  const inbounds = listInbounds(dataplane);
  const found = new Map<number | string, AddressedInbound[]>();
  for (const inbound of inbounds) {
    const at = hostAddress(advertisedAddress ?? inbound.address ?? address, inbound.port);
    const { name, port, state = 'Ready' } = inbound;
    if (!at || state === 'Ignored') continue;
    for (const target of new Set(name === undefined ? [port] : [port, name])) {
      const same = found.get(target);
      if (same) same.push({ ...at, ready: state === 'Ready', inbound });
      else found.set(target, [{ ...at, ready: state === 'Ready', inbound }]);
    }
  }
  if (inbounds.length >= MANY_INBOUNDS) addressedBefore.set(dataplane, found);
  return found;
}

/** Merges endpoints by address and sorts them: an address is ready where one of its inbounds is, and plaintext where all are. */
function distinct(endpoints: readonly LocalEndpoint[]): readonly LocalEndpoint[] {
  const found = new Map<string, LocalEndpoint>();
  for (const each of endpoints) {
    const { address, port, ready, plaintext, takesPlaintext } = each;
    const key = `${address} ${port}`;
    const before = found.get(key);
    found.set(key, {
      address,
      port,
      ready: ready || before?.ready === true,
      plaintext: plaintext && before?.plaintext !== false,
      takesPlaintext: takesPlaintext && before?.takesPlaintext !== false,
    });
  }
  return [...found.values()].sort(compareAddresses);
}

/** Merges members of one zone into one ingress endpoint with the instances of all. */
function mergeZones(zones: readonly RemoteZone[]): readonly RemoteZone[] {
  const found = new Map<string, RemoteZone>();
  for (const zone of zones) {
    const before = found.get(zone.zone)?.instances ?? 0;
    found.set(zone.zone, { ...zone, instances: zone.instances + before });
  }
  return [...found.values()].sort((a, b) => (a.zone < b.zone ? -1 : 1));
}

function sniSubject({ id, labels }: Resource, { number, section }: ServicePort) {
  // Namespace "default" counts as a namespace only on Kubernetes, where the label is set (docs/design.md §1, Computed labels).
  const namespace = id.namespace === 'default' && labels[Label.namespace] !== 'default' ? '' : id.namespace;
  const { mesh, zone, name } = id;
  return { shortName: SHORT_NAMES[id.kind] ?? 'msvc', mesh, zone, namespace, name, port: number, section };
}

function readVip({ status }: Resource): string {
  const vip = status?.['vip'];
  const ip = isJsonObject(vip) ? vip['ip'] : undefined;
  return typeof ip === 'string' && isIP(ip) !== 0 ? ip : '';
}

function readHostnames({ status }: Resource): readonly string[] {
  const addresses = status?.['addresses'];
  if (!isJsonArray(addresses)) return [];
  const found = addresses.slice(0, MAX_HOSTNAMES).flatMap((address) => {
    if (!isJsonObject(address) || address['status'] !== 'Available') return [];
    const { hostname } = address;
    return typeof hostname === 'string' && hostname !== '' ? [hostname] : [];
  });
  return [...new Set(found)].sort();
}

/** A tag in the older form of identities stands for `spiffe://<mesh>/<tag>`. */
function readIdentities({ id, spec }: Resource): readonly string[] {
  const { identities } = spec;
  if (!isJsonArray(identities)) return [];
  return identities.slice(0, MAX_IDENTITIES).flatMap((identity) => {
    if (!isJsonObject(identity)) return [];
    const { type, value } = identity;
    if (typeof value !== 'string' || value === '' || value.length > 2_048) return [];
    if (type === 'SpiffeID') return [value];
    return type === 'ServiceTag' ? [`spiffe://${id.mesh}/${value}`] : [];
  });
}

function countInstances({ spec: { instances } }: Resource): number {
  return typeof instances === 'number' && Number.isInteger(instances) && instances > 0
    ? Math.min(instances, 100_000)
    : 1;
}
