import { zoneOfKey, type ResourceKey } from '@causeway/resources';

/**
 * Identity keys that wait to be sent, with a value each. Iteration takes the zones of origin in turn, oldest key first
 * within a zone, so a zone that changes ten thousand resources does not delay the one change of another. Each operation
 * is O(1), iteration is O(keys visited).
 */
export class RoundRobinKeys<T> {
  private readonly zones = new Map<string, Map<ResourceKey, T>>();
  private count = 0;

  get size(): number {
    return this.count;
  }

  has(key: ResourceKey): boolean {
    return this.zones.get(zoneOfKey(key))?.has(key) ?? false;
  }

  /** Adds a key behind the others of its zone; a key that is there already keeps its place. */
  set(key: ResourceKey, value: T): void {
    const zone = zoneOfKey(key);
    const keys = this.zones.get(zone) ?? new Map<ResourceKey, T>();
    this.zones.set(zone, keys);
    if (!keys.has(key)) this.count++;
    keys.set(key, value);
  }

  delete(key: ResourceKey): void {
    const zone = zoneOfKey(key);
    const keys = this.zones.get(zone);
    if (!keys?.delete(key)) return;
    this.count--;
    if (keys.size === 0) this.zones.delete(zone);
  }

  /** One key of each zone in turn; a key that was yielded may be deleted during the iteration. */
  *[Symbol.iterator](): Generator<readonly [ResourceKey, T]> {
    let turns = [...this.zones.values()].map((keys) => keys.entries());
    while (turns.length > 0) {
      const rest: typeof turns = [];
      for (const turn of turns) {
        const next = turn.next();
        if (next.done === true) continue;
        rest.push(turn);
        yield next.value;
      }
      turns = rest;
    }
  }
}
