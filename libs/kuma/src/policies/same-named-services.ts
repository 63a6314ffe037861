import { Label, labelsMatch, type Resource, type ResourceKey } from '@causeway/resources';
import { kumaLabels, serviceKey } from '../routes/kuma-services';

/** A name in a namespace: zones of Kuma may confuse services that share it. */
interface NamespacedName {
  readonly name: string;
  readonly namespace: string;
}

/**
 * Indexes services by name and namespace. It gets every service, one change after the other; a change costs the namespaces that have the name, not
 * the zones.
 */
export class SameNamedServices {
  private readonly names = new Map<string, Map<string, Set<ResourceKey>>>();
  private readonly places = new Map<ResourceKey, NamespacedName>();

  clear(): void {
    this.names.clear();
    this.places.clear();
  }

  /** Reports whether the name of the service with this key may match another service in another zone. */
  hasOthers(key: ResourceKey): boolean {
    const place = this.places.get(key);
    return place !== undefined && (this.findGroup(place)?.size ?? 0) > 1;
  }

  /**
   * Replaces a service. Returns the keys of other services for which the result of `hasOthers` changed, and of services without namesake in their
   * namespace whose labels for zones of Kuma match this service before or after.
   */
  put(
    key: ResourceKey,
    { before, after }: { readonly before: Resource | undefined; readonly after: Resource | undefined },
    byKey: (key: ResourceKey) => Resource | undefined,
  ): readonly ResourceKey[] {
    const from = this.places.get(key);
    const to = after && findPlace(after);
    const found = new Set<ResourceKey>();
    if (from?.name !== to?.name || from?.namespace !== to?.namespace) {
      if (from) this.leave(key, from, found);
      if (to) this.join(key, to, found);
    }
    for (const name of new Set([from?.name, to?.name]))
      for (const alone of this.lonely(name)) {
        const other = alone === key ? undefined : byKey(alone);
        if (other && [before, after].some((one) => one && labelsMatch(kumaLabels(other), one.labels))) found.add(alone);
      }
    return [...found];
  }

  private findGroup({ name, namespace }: NamespacedName): Set<ResourceKey> | undefined {
    return this.names.get(name)?.get(namespace);
  }

  private leave(key: ResourceKey, place: NamespacedName, found: Set<ResourceKey>): void {
    this.places.delete(key);
    const group = this.findGroup(place);
    if (!group?.delete(key)) return;
    if (group.size === 1) for (const left of group) found.add(left);
    if (group.size > 0) return;
    const namespaces = this.names.get(place.name);
    namespaces?.delete(place.namespace);
    if (namespaces?.size === 0) this.names.delete(place.name);
  }

  private join(key: ResourceKey, place: NamespacedName, found: Set<ResourceKey>): void {
    this.places.set(key, place);
    const namespaces = this.names.get(place.name) ?? new Map<string, Set<ResourceKey>>();
    this.names.set(place.name, namespaces);
    const group = namespaces.get(place.namespace) ?? new Set();
    namespaces.set(place.namespace, group);
    if (group.size === 1) for (const other of group) found.add(other);
    group.add(key);
  }

  /** Yields the services that have no other of their name in their namespace. */
  private *lonely(name: string | undefined): Generator<ResourceKey> {
    for (const group of this.names.get(name ?? '')?.values() ?? []) if (group.size === 1) yield* group;
  }
}

/** Returns undefined for a service that labels cannot match by its name. */
function findPlace({ id, labels }: Resource): NamespacedName | undefined {
  const name = labels[Label.displayName];
  const namespace = JSON.stringify([id.namespace, labels[Label.namespace] ?? null]);
  return name === undefined ? undefined : { name: serviceKey(id, name), namespace };
}
