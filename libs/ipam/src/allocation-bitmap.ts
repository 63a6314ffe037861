const FULL = -1;

/**
 * A set of whole numbers from 0, optimized for finding the next number that is not in it. A sparse tree of 32-bit
 * words: a bit in one level means that the word below is full. Add, remove and search cost the depth (7 for IPv4, 26
 * for IPv6); memory depends on the numbers in the set, not on the range.
 */
export class AllocationBitmap {
  private readonly levels: Map<bigint, number>[];

  /** Creates an empty set for numbers below `size`. */
  constructor(size: bigint) {
    const depth = Math.max(1, Math.ceil(size.toString(2).length / 5));
    this.levels = Array.from({ length: depth }, () => new Map<bigint, number>());
  }

  has(n: bigint): boolean {
    return ((this.levels[0]?.get(n >> 5n) ?? 0) & bit(n)) !== 0;
  }

  /** Adds a number. Idempotent. */
  add(n: bigint): void {
    let node = n;
    for (const words of this.levels) {
      const word = (words.get(node >> 5n) ?? 0) | bit(node);
      words.set(node >> 5n, word);
      if (word !== FULL) return;
      node >>= 5n;
    }
  }

  /** Removes a number. Idempotent. */
  remove(n: bigint): void {
    let node = n;
    for (const words of this.levels) {
      const before = words.get(node >> 5n) ?? 0;
      const after = before & ~bit(node);
      if (after === 0) words.delete(node >> 5n);
      else words.set(node >> 5n, after);
      if (before !== FULL) return;
      node >>= 5n;
    }
  }

  /** Returns the smallest number ≥ `from` that is not in the set; it may be beyond the size. */
  nextFree(from: bigint): bigint {
    return this.nextNotFull(0, from);
  }

  private nextNotFull(level: number, from: bigint): bigint {
    const words = this.levels[level];
    if (!words) return from;
    const here = (words.get(from >> 5n) ?? 0) | (bit(from) - 1);
    if (here !== FULL) return ((from >> 5n) << 5n) + lowestZero(here);
    const open = this.nextNotFull(level + 1, (from >> 5n) + 1n);
    return (open << 5n) + lowestZero(words.get(open) ?? 0);
  }
}

function bit(n: bigint): number {
  return 1 << Number(n & 31n);
}

function lowestZero(word: number): bigint {
  const zeros = ~word;
  return BigInt(31 - Math.clz32(zeros & -zeros));
}
