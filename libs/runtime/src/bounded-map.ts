/** A map of at most `most` keys; the key set longest ago is evicted first. */
export class BoundedMap<V> {
  private readonly values = new Map<string, V>();

  constructor(private readonly most: number) {}

  get(key: string): V | undefined {
    return this.values.get(key);
  }

  get size(): number {
    return this.values.size;
  }

  delete(key: string): void {
    this.values.delete(key);
  }

  set(key: string, value: V): void {
    this.values.delete(key);
    this.values.set(key, value);
    if (this.values.size <= this.most) return;
    const [oldest] = this.values.keys();
    if (oldest !== undefined) this.values.delete(oldest);
  }
}
