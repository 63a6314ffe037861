/** Returns the value of a key; creates and stores one if there is none. */
export function getOrInsert<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}

/** Deletes a value from the set of a key, and the set if it becomes empty. */
export function deleteFrom<K, V>(map: Map<K, Set<V>>, key: K, value: V): void {
  const values = map.get(key);
  values?.delete(value);
  if (values?.size === 0) map.delete(key);
}

/** A map with several values per key. */
export class MultiMap<V> {
  private readonly sets = new Map<string, Set<V>>();
  private readonly none: ReadonlySet<V> = new Set<V>();

  get(key: string): ReadonlySet<V> {
    return this.sets.get(key) ?? this.none;
  }

  add(key: string, value: V): void {
    getOrInsert(this.sets, key, () => new Set<V>()).add(value);
  }

  delete(key: string, value: V): void {
    deleteFrom(this.sets, key, value);
  }
}
