/** The value of a key; made and kept where there is none. */
export function entry<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}

/** Several values by key. */
export class MultiMap<V> {
  private readonly sets = new Map<string, Set<V>>();
  private readonly none: ReadonlySet<V> = new Set<V>();

  get(key: string): ReadonlySet<V> {
    return this.sets.get(key) ?? this.none;
  }

  add(key: string, value: V): void {
    entry(this.sets, key, () => new Set<V>()).add(value);
  }

  delete(key: string, value: V): void {
    const values = this.sets.get(key);
    values?.delete(value);
    if (values?.size === 0) this.sets.delete(key);
  }
}
