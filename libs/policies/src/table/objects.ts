import { compareText, getOrInsert, type Identity, identityKey, type Labels } from '@causeway/resources';

/** Object that policies can target: by its name, which is the same in every zone, or by labels. */
export interface TargetObject {
  readonly id: Identity;
  readonly labels: Labels;
  /** The display name, if it differs from the name. */
  readonly displayName?: string;
}

export interface KnownObject extends TargetObject {
  readonly key: string;
  readonly name: string;
  /** Kind, mesh and namespace: the scope of selectors. */
  readonly place: string;
}

/**
 * Formats the place in which references of a kind are resolved in a namespace. Kinds without namespaces use `default`,
 * as for routes.
 */
export const formatPlace = (kind: string, mesh: string, namespace: string): string =>
  `${kind}/${mesh}/${namespace || 'default'}`;

/** The objects that policies can target, by place and name. */
export class Objects {
  private readonly byKey = new Map<string, KnownObject>();
  private readonly byPlace = new Map<string, Map<string, Map<string, KnownObject>>>();

  get(key: string): KnownObject | undefined {
    return this.byKey.get(key);
  }

  /** Stores an object; returns its older version. */
  put({ id, labels, displayName }: TargetObject): KnownObject | undefined {
    const key = identityKey(id);
    const before = this.remove(id);
    const isGlobal = id.kind === 'Namespace' || id.kind === 'Mesh';
    const place = isGlobal ? formatPlace(id.kind, '', '') : formatPlace(id.kind, id.mesh, id.namespace);
    const known = { id, labels, key, name: displayName || id.name, place };
    this.byKey.set(key, known);
    const names = getOrInsert(this.byPlace, place, () => new Map<string, Map<string, KnownObject>>());
    getOrInsert(names, known.name, () => new Map<string, KnownObject>()).set(key, known);
    return before;
  }

  /** Removes an object; returns it. */
  remove(id: Identity): KnownObject | undefined {
    const known = this.byKey.get(identityKey(id));
    if (!known) return undefined;
    const names = this.byPlace.get(known.place);
    const sameNamed = names?.get(known.name);
    sameNamed?.delete(known.key);
    if (sameNamed?.size === 0) names?.delete(known.name);
    if (names?.size === 0) this.byPlace.delete(known.place);
    this.byKey.delete(known.key);
    return known;
  }

  /** Yields all objects of a place, unordered; or those with a name. */
  *in(place: string, name?: string): Generator<KnownObject> {
    const names = this.byPlace.get(place);
    if (name !== undefined) yield* names?.get(name)?.values() ?? [];
    else for (const sameNamed of names?.values() ?? []) yield* sameNamed.values();
  }

  /** Returns the labels of a Namespace or Mesh. */
  getLabels(kind: 'Namespace' | 'Mesh', name: string): Labels {
    const [known] = this.in(formatPlace(kind, '', ''), name);
    return known?.labels ?? {};
  }

  /** Returns the namespaces of a mesh that contain objects, sorted. Linear in places. */
  listNamespaces(mesh: string): string[] {
    const found = new Set<string>();
    for (const place of this.byPlace.keys()) {
      const [, of, namespace] = place.split('/');
      if (of === mesh && namespace !== undefined && mesh !== '') found.add(namespace);
    }
    return [...found].sort(compareText);
  }
}
