const FNV_PRIME = 16_777_619;
const SMALLEST = 16;

/**
 * A hash map from names to entries, for up to millions of names: open addressing over typed arrays. A new name costs
 * one lookup, growing moves numbers only, and the garbage collector has nothing to trace. The hash has a random seed,
 * so that nobody can craft colliding names.
 */
export class NameHashMap<Entry> {
  private readonly seed = (Math.random() * 0x1_0000_0000) | 0;
  /** The hash of the entry in each slot, and its index in `entries` plus one; 0 is an empty slot. */
  private hashes = new Int32Array(SMALLEST);
  private places = new Int32Array(SMALLEST);
  private readonly entries: (Entry | undefined)[] = [];
  private readonly freePlaces: number[] = [];
  private size = 0;

  constructor(private readonly getName: (entry: Entry) => string) {}

  /** Returns all entries, in no order; entries added or removed during the iteration may or may not appear. */
  *values(): Generator<Entry> {
    for (const entry of this.entries) if (entry !== undefined) yield entry;
  }

  get(name: string): Entry | undefined {
    return this.at(this.find(name, this.hash(name)));
  }

  /** Adds an entry unless one has its name; returns the entry of the name. */
  add(entry: Entry): Entry {
    const name = this.getName(entry);
    const hash = this.hash(name);
    const slot = this.find(name, hash);
    const held = this.at(slot);
    if (held !== undefined) return held;
    const place = this.freePlaces.pop() ?? this.entries.length;
    this.entries[place] = entry;
    this.hashes[slot] = hash;
    this.places[slot] = place + 1;
    this.size += 1;
    if (this.size * 2 > this.places.length) this.grow();
    return entry;
  }

  /** Replaces the entry that has the same name. */
  replace(entry: Entry): void {
    const name = this.getName(entry);
    const place = this.places[this.find(name, this.hash(name))] ?? 0;
    if (place > 0) this.entries[place - 1] = entry;
  }

  delete(name: string): void {
    const slot = this.find(name, this.hash(name));
    const place = this.places[slot] ?? 0;
    if (place === 0) return;
    this.entries[place - 1] = undefined;
    this.freePlaces.push(place - 1);
    this.size -= 1;
    this.close(slot);
  }

  private at(slot: number): Entry | undefined {
    const place = this.places[slot] ?? 0;
    return place === 0 ? undefined : this.entries[place - 1];
  }

  /** Returns the slot of the name, or the empty slot where it would be added. */
  private find(name: string, hash: number): number {
    const { hashes, places } = this;
    const mask = places.length - 1;
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      if (places[slot] === 0) return slot;
      const entry = hashes[slot] === hash ? this.at(slot) : undefined;
      if (entry !== undefined && this.getName(entry) === name) return slot;
    }
  }

  /** Moves back the entries that are behind `hole` only because the slot was occupied. */
  private close(hole: number): void {
    const { hashes, places } = this;
    const mask = places.length - 1;
    for (let slot = (hole + 1) & mask; places[slot] !== 0; slot = (slot + 1) & mask) {
      const hash = hashes[slot] ?? 0;
      if (((slot - (hash & mask)) & mask) < ((slot - hole) & mask)) continue;
      hashes[hole] = hash;
      places[hole] = places[slot] ?? 0;
      hole = slot;
    }
    places[hole] = 0;
  }

  private grow(): void {
    const { hashes, places } = this;
    this.hashes = new Int32Array(places.length * 2);
    this.places = new Int32Array(places.length * 2);
    const mask = this.places.length - 1;
    for (let from = 0; from < places.length; from++) {
      const place = places[from] ?? 0;
      if (place === 0) continue;
      const hash = hashes[from] ?? 0;
      let slot = hash & mask;
      while (this.places[slot] !== 0) slot = (slot + 1) & mask;
      this.hashes[slot] = hash;
      this.places[slot] = place;
    }
  }

  /** FNV-1a, mixed so that the low bits depend on all bits. */
  private hash(name: string): number {
    let hash = this.seed;
    for (let i = 0; i < name.length; i++) hash = Math.imul(hash ^ name.charCodeAt(i), FNV_PRIME);
    return hash ^ (hash >>> 15);
  }
}
