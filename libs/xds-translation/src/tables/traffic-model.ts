import { isDeepStrictEqual } from 'node:util';
import {
  asDataplane,
  dataplaneValues,
  InboundChange,
  SelectorMatcher,
  type SelectorTerm,
  findSelector,
  type DataplaneResource,
  type ServiceResource,
} from '@causeway/dataplanes';
import { isTrustedHere, SecretAccess } from '@causeway/controllers';
import { findMeshAuthority } from '@causeway/identity';
import { globalIdentity, identityKey, type Resource, type ResourceKey } from '@causeway/resources';
import type { IndexChange, IndexEvent, IndexReader } from '@causeway/store';
import { LITERAL_HOSTS, type HostSource } from '../resolution/dialled-hosts';
import {
  toDestinations,
  hasNames,
  SERVICE_KINDS,
  type Destination,
  type DestinationConfig,
  type DestinationUpstream,
} from '../model/destination';
import { hasOtherConfig, hasOtherUpstream } from '../model/compare-destinations';
import { AccessTable, type AccessSource } from '../access/inbound-access';
import { NO_CHANGE, type DestinationChange, type ModelChange } from '../model/model-change';
import { HostDependents } from '../model/host-dependents';
import { EgressRules } from '../access/egress-rules';
import { InboundRules, type EffectiveAccess } from '../access/inbound-rules';
import { restricted } from '../access/restricted-inbounds';
import { NO_POLICIES } from './policy-source';
import { NO_READS, type Reads } from '../reads/recorded-reads';
import { externalsThrough } from '../model/external-services';
import { GroupMembers } from '../model/group-members';
import { asService, isSameEndpoint } from '../model/services';
import { portInstances, type PortInstances } from '../model/instances';
import { ZoneDirectory } from '../model/zone-directory';
import { ZoneEgressTable } from '../model/zone-egress';
import { sortedAddresses, type ZoneIngressEndpoint } from '../model/ingress-endpoint';
import { meshOfAuthority, computeTrustDomains, type TrustDomain } from '../model/trust-domains';

const NO_DESTINATIONS: readonly DestinationChange[] = [];

/** Inputs of a model besides the index. */
export interface ModelSources {
  readonly policies?: EffectiveAccess;
  readonly hosts?: Pick<HostSource, 'resolve'>;
  /** Records reads of the model. */
  readonly reads?: Reads;
}

/**
 * The traffic of all meshes from the point of view of one zone's proxies: destinations by name, ingress endpoints of zones, trust. Follows the index
 * event by event: a change costs the services that it affects, because inverted indexes lead from Dataplanes, members and zones to these services.
 * Pure except for the index that it reads.
 */
export class TrafficModel {
  /** The number of destinations computed since the start: the cost of changes. */
  computed = 0;
  private readonly byName = new Map<string, Destination>();
  private readonly namesOf = new Map<ResourceKey, readonly string[]>();
  private readonly matcher = new SelectorMatcher(dataplaneValues);
  private readonly groups = new GroupMembers();
  private readonly zones: ZoneDirectory;
  private readonly hostDependents = new HostDependents();
  private readonly hosts: Pick<HostSource, 'resolve'>;
  readonly rules: InboundRules;
  readonly access: AccessTable;
  readonly egress: ZoneEgressTable;
  readonly egressRules: EgressRules;
  private readonly secrets: SecretAccess;
  private readonly reads: Reads;

  constructor(
    readonly index: IndexReader,
    readonly zone: string,
    access: AccessSource,
    { policies = NO_POLICIES.table, hosts = LITERAL_HOSTS, reads = NO_READS }: ModelSources = {},
  ) {
    this.hosts = hosts;
    this.secrets = new SecretAccess(index, zone, () => access.areSecretsUpgraded?.() !== false);
    this.reads = reads;
    this.rules = new InboundRules({ index, zone, policies, reads, listServices: (each) => this.selecting(each) });
    this.access = new AccessTable({ index, source: access, rules: this.rules, zone, reads });
    this.egress = new ZoneEgressTable(index, zone, reads);
    this.egress.load();
    this.egressRules = new EgressRules(this.rules, this.access);
    this.zones = new ZoneDirectory((name) => index.get(globalIdentity('Zone', name)));
  }

  /**
   * Derives everything from the index, one service a step, and yields the changes; called once. Events between two steps are applied as usual:
   * services that are reached later are read in their current state.
   */
  *load(): Generator<readonly DestinationChange[]> {
    for (const _ of this.rules.load()) yield NO_DESTINATIONS;
    for (const kind of ['MeshZoneAddress', 'ZoneIngress'])
      for (const after of this.index.ofKind(kind)) {
        const zone = this.zones.observe({ id: after.id, key: identityKey(after.id), after });
        // An event between two steps may have read the ingress endpoint of the zone already.
        const moved = zone === undefined ? [] : this.zones.refresh(zone);
        yield moved.flatMap(({ dependents }) => [...dependents].flatMap((key) => this.recompute(key)));
      }
    for (const kind of SERVICE_KINDS)
      for (const { id } of this.index.ofKind(kind)) {
        const key = identityKey(id);
        for (const _ of this.matcher.index(this.listTerms(this.index.byIdentityKey(key)), () => this.dataplanes()))
          yield NO_DESTINATIONS;
        this.setSelector(key, this.index.byIdentityKey(key));
        yield this.recompute(key);
      }
  }

  destination(name: string): Destination | undefined {
    this.reads.read(`destination ${name}`);
    return this.byName.get(name);
  }

  /** Returns a destination of which only the configuration is read: a change of its endpoints does not invalidate the build. */
  config(name: string): DestinationConfig | undefined {
    this.reads.read(`config ${name}`);
    return this.byName.get(name);
  }

  /** Returns a destination of which only its clusters and endpoints are made: a change of its names does not invalidate the build. */
  upstream(name: string): DestinationUpstream | undefined {
    this.reads.read(`upstream ${name}`);
    return this.byName.get(name);
  }

  /** The names of the destinations of a service, by its identity key. */
  namesOfService(key: ResourceKey): readonly string[] {
    this.reads.read(`ports ${key}`);
    return this.namesOf.get(key) ?? [];
  }

  /** Returns the instances of a service that clients in this zone can reach without a proxy, by port. Costs the number of instances. */
  listInstances(key: ResourceKey): readonly PortInstances[] {
    const service = this.index.byIdentityKey(key);
    if (!service) return [];
    const listDataplanes = (each: Resource): Iterable<DataplaneResource> => this.listDataplanes(each);
    return portInstances(service, { listDataplanes, members: this.members(key), access: this.access, zone: this.zone });
  }

  /** The services of this zone that select a Dataplane. */
  selecting(dataplane: DataplaneResource): readonly ServiceResource[] {
    this.reads.readOwn(`selecting ${identityKey(dataplane.id)}`);
    const found = new Set(this.matcher.setItem(identityKey(dataplane.id), dataplane, dataplane));
    return [...found].flatMap((key) => {
      const service = asService(this.index.byIdentityKey(key));
      return service && findSelector(service)?.matches(dataplane) ? [service] : [];
    });
  }

  destinations(): Iterable<Destination> {
    return this.byName.values();
  }

  /** Returns the ingress endpoint of a zone; undefined if it has none, or if no service needs it. */
  ingressEndpoint(mesh: string, zone: string): ZoneIngressEndpoint | undefined {
    this.reads.read(`ingressEndpoint ${mesh} ${zone}`);
    const known = this.zones.known(mesh, zone);
    if (!known || known.names.length === 0) return known;
    const resolved = known.names.flatMap(({ address: name, port }) =>
      this.hosts.resolve(name).addresses.map((address) => ({ address, port })),
    );
    return { ...known, addresses: sortedAddresses([...known.addresses, ...resolved]) };
  }

  /** Yields all host names in use; their version grows when one comes or goes. */
  *hostNames(): Iterable<string> {
    yield* this.hostDependents.names();
    yield* this.zones.names();
  }

  get hostsVersion(): number {
    return this.hostDependents.version + this.zones.namesVersion;
  }

  /** Applies new addresses of these host names. */
  hostsChanged(names: readonly string[]): ModelChange {
    const zones = this.zones.namedAt(names);
    for (const { mesh, zone } of zones) this.reads.changed(`ingressEndpoint ${mesh} ${zone}`);
    return {
      ...NO_CHANGE,
      destinations: [...this.hostDependents.of(names)].flatMap((key) => this.recompute(key)),
      zones,
    };
  }

  /** Returns the authorities that proxies of this zone accept, one entry for each trust domain. */
  trust(mesh: string): readonly TrustDomain[] {
    this.reads.read(`trust ${mesh}`);
    return computeTrustDomains(this.index.ofKind('MeshTrust'), mesh, this.zone, findMeshAuthority(this.index, mesh));
  }

  /**
   * Returns how many services must be recomputed because these changes, or without an argument inputs outside the index, change access to their
   * meshes. Has no side effect.
   */
  affected(changes?: readonly IndexChange[]): number {
    const meshes = this.access.stale(changes);
    let count = 0;
    if (meshes.length > 0) for (const _ of this.listServices(meshes)) count += 1;
    return count;
  }

  /** Applies an event of the index and returns the changes in the model. */
  apply({ changes }: Pick<IndexEvent, 'changes'>): ModelChange {
    const access = this.access.refresh(changes);
    const egress = this.egress.refresh(changes);
    const services = new Set<ResourceKey>(access.length > 0 ? this.listServices(access) : []);
    const rules = this.rules.observe(changes);
    for (const key of rules.services) if (this.isMixed(key)) services.add(key);
    for (const key of externalsThrough(this.index, egress)) services.add(key);
    const trust = new Set<string>();
    const touched = new Set<string>();
    for (const change of changes) {
      for (const key of this.staleServices(change)) services.add(key);
      if (isTrustedHere(change.id, this.zone)) trust.add(change.id.mesh);
      const mesh = meshOfAuthority(change);
      if (mesh !== undefined) trust.add(mesh);
      const zone = this.zones.observe(change);
      if (zone !== undefined) touched.add(zone);
    }
    for (const mesh of trust) this.reads.changed(`trust ${mesh}`);
    const zones = [...touched].flatMap((zone) =>
      this.zones.refresh(zone).map(({ mesh, rerouted, dependents }) => {
        for (const key of dependents) if (rerouted || this.hasNames(key)) services.add(key);
        this.reads.changed(`ingressEndpoint ${mesh} ${zone}`);
        return { mesh, zone, dependents };
      }),
    );
    return {
      destinations: [...services].flatMap((key) => this.recompute(key)),
      zones,
      trust: [...trust],
      access,
      restricted: restricted(changes, rules, this),
      dataplanes: changes.filter(({ id }) => id.kind === 'Dataplane' && id.zone === this.zone),
    };
  }

  /** Applies that the AccessPolicies of these services, by identity key, may have changed. */
  accessPoliciesChanged(services: readonly ResourceKey[] | 'all'): ModelChange {
    this.rules.forget(services);
    const mixed = services === 'all' ? [] : services.filter((key) => this.isMixed(key));
    return { ...NO_CHANGE, destinations: mixed.flatMap((key) => this.recompute(key)) };
  }

  /** Reports whether policies apply to instances that may take plaintext. */
  mixesAccess(): boolean {
    return [...this.rules.meshes()].some((mesh) => this.access.mayBePlaintext(mesh));
  }

  /** Reports whether instances of a service may take plaintext, so that clients must know which do. */
  private isMixed(key: ResourceKey): boolean {
    return this.access.mayBePlaintext(this.index.byIdentityKey(key)?.id.mesh ?? '');
  }

  /** Applies a change of access that has its cause outside the index. */
  accessChanged(): ModelChange {
    const access = this.access.refresh();
    const services = access.length > 0 ? [...this.listServices(access)] : [];
    return { ...NO_CHANGE, access, destinations: services.flatMap((key) => this.recompute(key)) };
  }

  /** Applies that proxies of these Dataplanes, by identity key, may have begun or stopped to accept TLS. */
  tlsChanged(dataplanes: Iterable<ResourceKey>): ModelChange {
    const services = new Set<ResourceKey>();
    for (const key of dataplanes) {
      const dataplane = asDataplane(this.index.byIdentityKey(key));
      if (dataplane?.id.zone !== this.zone || !this.access.isMixed(dataplane.id.mesh)) continue;
      for (const each of this.withGroups(this.matcher.setItem(key, dataplane, dataplane))) services.add(each);
    }
    return { ...NO_CHANGE, destinations: [...services].flatMap((key) => this.recompute(key)) };
  }

  /** Yields the services whose endpoints depend on access to these meshes: all, because without TLS they have none in other zones. */
  private *listServices(meshes: readonly string[]): Iterable<ResourceKey> {
    for (const kind of SERVICE_KINDS)
      for (const { id } of this.index.ofKind(kind)) if (meshes.includes(id.mesh)) yield identityKey(id);
  }

  private hasNames(key: ResourceKey): boolean {
    return (this.namesOf.get(key) ?? []).some((name) => {
      const destination = this.byName.get(name);
      return destination !== undefined && hasNames(destination);
    });
  }

  /** Returns the services whose destinations may differ after a change. */
  private staleServices({ id, key, before, after }: IndexChange): readonly ResourceKey[] {
    if (id.kind === 'Dataplane') {
      if (id.zone !== this.zone || (before && after && isSameEndpoint(before, after))) return [];
      const [was, is] = [asDataplane(before), asDataplane(after)];
      const services = this.matcher.setItem(key, was, is);
      const inbounds = InboundChange.of(was, is);
      return this.withGroups(inbounds ? services.filter((each) => this.isConcerned(each, inbounds)) : services);
    }
    if (id.kind === 'Secret') return this.secrets.listUsers(id, 'MeshExternalService');
    if (!SERVICE_KINDS.includes(id.kind)) return [];
    this.setSelector(key, after);
    return this.withGroups([key]);
  }

  private isConcerned(key: ResourceKey, inbounds: InboundChange): boolean {
    const service = asService(this.index.byIdentityKey(key));
    return !service || inbounds.concerns(service);
  }

  private withGroups(keys: readonly ResourceKey[]): readonly ResourceKey[] {
    return keys.flatMap((key) => [key, ...this.groups.groupsOf(key)]);
  }

  /** Only services of this zone select Dataplanes here. */
  private setSelector(key: ResourceKey, resource: Resource | undefined): void {
    if (resource && asService(resource)?.id.zone !== this.zone) return;
    this.matcher.setSelector(key, this.listTerms(resource), () => this.dataplanes());
  }

  private listTerms(resource: Resource | undefined): readonly SelectorTerm[] {
    const service = asService(resource);
    return service?.id.zone === this.zone ? (findSelector(service)?.terms ?? []) : [];
  }

  *dataplanes(): Iterable<readonly [ResourceKey, DataplaneResource]> {
    for (const resource of this.index.ofKind('Dataplane')) {
      const dataplane = resource.id.zone === this.zone ? asDataplane(resource) : undefined;
      if (dataplane) yield [identityKey(dataplane.id), dataplane];
    }
  }

  /** Yields the Dataplanes of this zone that a service selects. */
  *listDataplanes(resource: Resource): Iterable<DataplaneResource> {
    const service = asService(resource);
    const selector = service && findSelector(service);
    for (const key of selector ? this.matcher.candidates(selector.terms) : []) {
      const dataplane = asDataplane(this.index.byIdentityKey(key));
      if (dataplane && selector?.matches(dataplane)) yield dataplane;
    }
  }

  /** Recomputes the destinations of one service. */
  private recompute(key: ResourceKey): readonly DestinationChange[] {
    const service = this.index.byIdentityKey(key);
    this.groups.replace(key, service);
    const entered = new Set<string>();
    const found = service
      ? toDestinations(service, {
          zone: this.zone,
          listDataplanes: (each) => this.listDataplanes(each),
          listMembers: () => this.members(key),
          access: this.access,
          hosts: this.hosts,
          external: this.secrets.of(service),
          findEgress: (mesh, name) => this.egress.findRoute(mesh, name),
          findIngressEndpoint: (mesh, zone) => {
            entered.add(zone);
            return this.zones.ingressEndpoint(mesh, zone);
          },
        })
      : [];
    this.computed += found.length;
    this.zones.setDependencies(key, service?.id.mesh ?? '', entered);
    this.hostDependents.replace(key, found);
    const before = new Map((this.namesOf.get(key) ?? []).map((name) => [name, this.byName.get(name)]));
    const after = new Map(found.map((destination) => [destination.name, destination]));
    if (after.size > 0) this.namesOf.set(key, [...after.keys()]);
    else this.namesOf.delete(key);
    if (!isDeepStrictEqual([...before.keys()], [...after.keys()])) this.reads.changed(`ports ${key}`);
    return [...new Set([...before.keys(), ...after.keys()])].flatMap((name) =>
      this.replace({ name, before: before.get(name), after: after.get(name) }),
    );
  }

  private replace(change: DestinationChange): readonly DestinationChange[] {
    const { name, before, after } = change;
    if (before && after && isDeepStrictEqual(before, after)) return [];
    if (after) this.byName.set(name, after);
    else this.byName.delete(name);
    this.reads.changed(`destination ${name}`, !after);
    if (hasOtherConfig(change)) this.reads.changed(`config ${name}`, !after);
    if (hasOtherUpstream(change)) this.reads.changed(`upstream ${name}`, !after);
    return [change];
  }

  private members(key: ResourceKey): readonly Resource[] {
    return this.groups.of(key).flatMap((member) => this.index.byIdentityKey(member) ?? []);
  }
}
