const MOST = 1_024;

/** Gives equal values the same object, so that it is in memory once. Values must be JSON and are never changed. */
export class Interner<T> {
  private known = new Map<string, T>();

  intern(value: T): T {
    const key = JSON.stringify(value);
    const found = this.known.get(key);
    if (found !== undefined) return found;
    if (this.known.size >= MOST) this.known = new Map();
    this.known.set(key, value);
    return value;
  }
}
