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
 * Objects to be generated here, by the key of each object and of its source. MeshServices are of zones: a zone makes those of its
 * own sources and of the global's, that of a node of the global only where the node has Dataplanes, for one without would hide the
 * other zones' from its callers. Routes and policies are made where their source was, and known where that is.
 */
export class GeneratedObjects {
  private readonly wanted = new Map<ResourceKey, Map<ResourceKey, Generated>>();
  private readonly made = new Map<ResourceKey, readonly ResourceKey[]>();

  constructor(private readonly cp: ControlPlane) {}

  clear(): void {
    this.wanted.clear();
    this.made.clear();
  }

  /** Takes over what a source becomes, nothing where it is gone; returns the keys of the objects that changed by that. */
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

  /** The object as it is to be. Where two sources want one, that of the zone counts. */
  get(object: ResourceKey): Generated | undefined {
    const candidates = this.wanted.get(object);
    const [first] = [...(candidates?.keys() ?? [])].sort().reverse();
    return first === undefined ? undefined : candidates?.get(first);
  }

  /** Keys of what an object comes from. */
  listSources(object: ResourceKey): Iterable<ResourceKey> {
    return this.wanted.get(object)?.keys() ?? [];
  }

  /** Keys of the objects that a source becomes. */
  objectsFrom(source: ResourceKey): readonly ResourceKey[] {
    return this.made.get(source) ?? [];
  }

  /** Keys of all sources that something is generated from. */
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

  /** True where that changed anything. */
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
