import type { Compiled, Generated } from '@causeway/appmesh';
import {
  identityKey,
  isMadeHere,
  jsonEqual,
  ownZone,
  type ControlPlane,
  type Resource,
  type ResourceKey,
} from '@causeway/resources';

/**
 * The objects to generate, indexed by object and by source. A zone generates MeshServices from its own sources and from the global's; from a node of
 * the global only if the node has Dataplanes here, because a service without any would hide the other zones' services from its callers. Routes and
 * policies are generated only where their source was made.
 */
export class GeneratedObjects {
  private readonly wanted = new Map<ResourceKey, Map<ResourceKey, Generated>>();
  private readonly made = new Map<ResourceKey, readonly ResourceKey[]>();

  constructor(private readonly cp: ControlPlane) {}

  clear(): void {
    this.wanted.clear();
    this.made.clear();
  }

  /** Replaces the objects of a source, by none if it is gone; returns the keys of changed objects. */
  update(key: ResourceKey, source: Resource | undefined, compiled: Compiled | undefined): readonly ResourceKey[] {
    const objects = source && compiled ? this.listObjects(source, compiled) : [];
    const next = new Map(objects.map((one) => [identityKey(one.id), one]));
    const before = this.made.get(key) ?? [];
    const stale = [...new Set([...before, ...next.keys()])].filter((object) =>
      this.replace(object, key, next.get(object)),
    );
    if (next.size === 0) this.made.delete(key);
    else this.made.set(key, [...next.keys()]);
    return stale;
  }

  /** Returns the wanted object. If two sources want one, the zone's wins. */
  get(object: ResourceKey): Generated | undefined {
    const candidates = this.wanted.get(object);
    const [first] = [...(candidates?.keys() ?? [])].sort().reverse();
    return first === undefined ? undefined : candidates?.get(first);
  }

  /** Returns the keys of the sources of an object. */
  listSources(object: ResourceKey): Iterable<ResourceKey> {
    return this.wanted.get(object)?.keys() ?? [];
  }

  /** Returns the keys of the objects of a source. */
  objectsFrom(source: ResourceKey): readonly ResourceKey[] {
    return this.made.get(source) ?? [];
  }

  /** Returns the keys of all sources with generated objects. */
  sources(): Iterable<ResourceKey> {
    return this.made.keys();
  }

  private listObjects(source: Resource, { service, rules, members }: Compiled): readonly Generated[] {
    const { cp } = this;
    const isOurs = isMadeHere(source, cp);
    const here = cp.role === 'zone' && (isOurs || source.id.kind !== 'VirtualNode' || members > 0);
    const services = service && here ? [{ ...service, id: { ...service.id, zone: ownZone(cp) } }] : [];
    return [...services, ...(isOurs ? rules : [])];
  }

  /** Returns whether the object changed. */
  private replace(object: ResourceKey, key: ResourceKey, next: Generated | undefined): boolean {
    const candidates = this.wanted.get(object) ?? new Map<ResourceKey, Generated>();
    const before = candidates.get(key);
    if (before && next && jsonEqual(before.spec, next.spec) && jsonEqual(before.labels, next.labels)) return false;
    if (next) candidates.set(key, next);
    else candidates.delete(key);
    if (candidates.size === 0) this.wanted.delete(object);
    else this.wanted.set(object, candidates);
    return true;
  }
}
