/** A source of chance that is the same for the same seed on every machine. */
export class Prng {
  private readonly seed: number;
  private state: number;

  constructor(seed: number | string) {
    this.seed = typeof seed === 'number' ? seed >>> 0 : hash(seed, 0x9e3779b9);
    this.state = this.seed;
  }

  /** 0 ≤ x < 1. */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), this.state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }

  /** A whole number, `low` ≤ x ≤ `high`. */
  between(low: number, high: number): number {
    return low + Math.floor(this.next() * (high - low + 1));
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(items: readonly T[]): T {
    const item = items[this.between(0, items.length - 1)];
    if (item === undefined) throw new Error('nothing to pick from');
    return item;
  }

  /** Picks by weight; entries are [weight, item]. */
  weighted<T>(entries: readonly (readonly [number, T])[]): T {
    let left = this.next() * entries.reduce((sum, [weight]) => sum + weight, 0);
    for (const [weight, item] of entries) {
      left -= weight;
      if (left < 0) return item;
    }
    return this.pick(entries)[1];
  }

  /** Another source that depends on this one's seed and the name, not on how much was drawn. */
  fork(name: string): Prng {
    return new Prng(hash(name, this.seed));
  }
}

function hash(text: string, seed: number): number {
  let h = seed ^ 0x811c9dc5;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  return (h ^ (h >>> 13)) >>> 0;
}
