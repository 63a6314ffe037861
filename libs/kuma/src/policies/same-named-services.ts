import { Label, labelsMatch, type Resource, type ResourceKey } from '@causeway/resources';
import { kumaLabels, serviceKey } from '../routes/kuma-services';

/** A name in a namespace: zones of Kuma may take services that share it for each other. */
interface NamespacedName {
  readonly name: string;
  readonly namespace: string;
}

/**
 * Services by name and namespace. It gets every service, one change after the other; a change costs the namespaces that have the name,
 * not the zones.
 */
export class SameNamedServices {
  private readonly names = new Map<string, Map<string, Set<ResourceKey>>>();
  private readonly places = new Map<ResourceKey, NamespacedName>();

  clear(): void {
    this.names.clear();
    this.places.clear();
  }

  /** Whether the name of the service of this key may mean another service in another zone. */
  hasOthers(key: ResourceKey): boolean {
    const place = this.places.get(key);
    return place !== undefined && (this.findGroup(place)?.size ?? 0) > 1;
  }

  /**
   * Takes a service as it was and is. Returns the keys of others for which the answer of `hasOthers` is another one since, and of those alone in their
   * namespace that the labels for zones of Kuma would find this service by, before or after.
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

  /** Those that are alone in their namespace. */
  private *lonely(name: string | undefined): Generator<ResourceKey> {
    for (const group of this.names.get(name ?? '')?.values() ?? []) if (group.size === 1) yield* group;
  }
}

/** Undefined for a service that labels cannot find by its name. */
function findPlace({ id, labels }: Resource): NamespacedName | undefined {
  const name = labels[Label.displayName];
  const namespace = JSON.stringify([id.namespace, labels[Label.namespace] ?? null]);
  return name === undefined ? undefined : { name: serviceKey(id, name), namespace };
}
