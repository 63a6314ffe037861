import { isDeepStrictEqual } from 'node:util';
import type { Identity, Resource, ResourceKey } from '@causeway/resources';
import { computeIngressEndpoint, type ZoneIngressEndpoint } from './ingress-endpoint';

/** A change of the ingress endpoint of a zone for one mesh, with the services that depend on it. */
export interface IngressEndpointChange {
  readonly mesh: string;
  /** Whether more than IP addresses changed: reachability of the zone, the form of its server names, its host names, or its rank. */
  readonly rerouted: boolean;
  readonly dependents: ReadonlySet<ResourceKey>;
}

interface ZoneEntry {
  ingressEndpoint: ZoneIngressEndpoint | undefined;
  readonly dependents: Set<ResourceKey>;
}

/** The ingress endpoints of the zones that services depend on, by zone and mesh. */
export class ZoneDirectory {
  /** A counter that grows whenever a host name of an ingress may have come or gone. */
  namesVersion = 0;
  private readonly entries = new Map<string, Map<string, ZoneEntry>>();
  private readonly dependencies = new Map<string, readonly (readonly [zone: string, mesh: string])[]>();
  private readonly meshAddresses = new Map<string, Map<string, Resource>>();
  private readonly ingresses = new Map<string, Map<string, Resource>>();

  constructor(private readonly zoneOf: (name: string) => Resource | undefined) {}

  /** Applies a change of a resource that defines an ingress; returns the zone to refresh. */
  observe(change: {
    readonly id: Identity;
    readonly key: string;
    readonly after: Resource | undefined;
  }): string | undefined {
    const { id, key, after } = change;
    if (id.kind === 'Zone') return id.name;
    if (id.kind === 'ZoneIngress') put(this.ingresses, id.zone, key, after);
    else if (id.kind === 'MeshZoneAddress') put(this.meshAddresses, formatZoneKey(id.mesh, id.zone), key, after);
    else return undefined;
    return id.zone;
  }

  known(mesh: string, zone: string): ZoneIngressEndpoint | undefined {
    return this.entries.get(zone)?.get(mesh)?.ingressEndpoint;
  }

  /** Returns the ingress endpoint of a zone, and keeps it up to date from now on. */
  ingressEndpoint(mesh: string, zone: string): ZoneIngressEndpoint | undefined {
    return this.entry(mesh, zone).ingressEndpoint;
  }

  /** Yields the host names of all ingresses. */
  *names(): Iterable<string> {
    for (const meshes of this.entries.values())
      for (const { ingressEndpoint } of meshes.values())
        for (const { address } of ingressEndpoint?.names ?? []) yield address;
  }

  /** Returns the zones whose ingress has one of these host names. Linear in all of them. */
  namedAt(
    names: readonly string[],
  ): readonly { readonly mesh: string; readonly zone: string; readonly dependents: ReadonlySet<ResourceKey> }[] {
    return [...this.entries].flatMap(([zone, meshes]) =>
      [...meshes].flatMap(([mesh, { ingressEndpoint, dependents }]) =>
        ingressEndpoint?.names.some(({ address }) => names.includes(address)) ? [{ mesh, zone, dependents }] : [],
      ),
    );
  }

  /** Recomputes the ingress endpoints of a zone. */
  refresh(zone: string): readonly IngressEndpointChange[] {
    return [...(this.entries.get(zone) ?? [])].flatMap(([mesh, entry]) => {
      const [before, after] = [entry.ingressEndpoint, this.compute(mesh, zone)];
      if (isDeepStrictEqual(before, after)) return [];
      entry.ingressEndpoint = after;
      const isNamed = [before, after].some((each) => each !== undefined && each.names.length > 0);
      if (isNamed) this.namesVersion += 1;
      const rerouted = isNamed || before?.sni !== after?.sni || before?.depreferred !== after?.depreferred;
      return [{ mesh, rerouted, dependents: entry.dependents }];
    });
  }

  /** Replaces the zones on which a service depends. Zones without dependents are forgotten. */
  setDependencies(service: ResourceKey, mesh: string, zones: ReadonlySet<string>): void {
    const before = this.dependencies.get(service) ?? [];
    const after = [...zones].map((zone) => [zone, mesh] as const);
    for (const [zone] of after) this.entry(mesh, zone).dependents.add(service);
    if (after.length > 0) this.dependencies.set(service, after);
    else this.dependencies.delete(service);
    for (const [zone, of] of before) {
      if (of === mesh && zones.has(zone)) continue;
      const meshes = this.entries.get(zone);
      const dependents = meshes?.get(of)?.dependents;
      dependents?.delete(service);
      if (dependents?.size === 0) this.forget(zone, of);
    }
  }

  private forget(zone: string, mesh: string): void {
    const meshes = this.entries.get(zone);
    if ((meshes?.get(mesh)?.ingressEndpoint?.names.length ?? 0) > 0) this.namesVersion += 1;
    meshes?.delete(mesh);
    if (meshes?.size === 0) this.entries.delete(zone);
  }

  private entry(mesh: string, zone: string): ZoneEntry {
    let meshes = this.entries.get(zone);
    if (!meshes) this.entries.set(zone, (meshes = new Map<string, ZoneEntry>()));
    let entry = meshes.get(mesh);
    if (!entry) {
      meshes.set(mesh, (entry = { ingressEndpoint: this.compute(mesh, zone), dependents: new Set() }));
      if ((entry.ingressEndpoint?.names.length ?? 0) > 0) this.namesVersion += 1;
    }
    return entry;
  }

  private compute(mesh: string, zone: string): ZoneIngressEndpoint | undefined {
    return computeIngressEndpoint({
      mesh,
      zone: this.zoneOf(zone),
      meshAddresses: this.meshAddresses.get(formatZoneKey(mesh, zone))?.values() ?? [],
      ingresses: this.ingresses.get(zone)?.values() ?? [],
    });
  }
}

function formatZoneKey(mesh: string, zone: string): string {
  return `${mesh}/${zone}`;
}

function put(table: Map<string, Map<string, Resource>>, place: string, key: string, after: Resource | undefined): void {
  const found = table.get(place);
  if (after) table.set(place, (found ?? new Map<string, Resource>()).set(key, after));
  else if (found?.delete(key) && found.size === 0) table.delete(place);
}
