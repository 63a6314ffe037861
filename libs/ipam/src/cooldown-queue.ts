/** The number of a freed address, and the end of its cooldown. */
export interface CoolingAddress {
  readonly n: bigint;
  readonly until: number;
}

/** Freed addresses by the end of their cooldown, then by address: a binary heap. */
export class CooldownQueue {
  private readonly heap: CoolingAddress[] = [];

  get length(): number {
    return this.heap.length;
  }

  get first(): CoolingAddress | undefined {
    return this.heap[0];
  }

  push(entry: CoolingAddress): void {
    let i = this.heap.push(entry) - 1;
    while (i > 0) {
      const parent = (i - 1) >> 1;
      if (!this.swapIfBefore(i, parent)) return;
      i = parent;
    }
  }

  /** Removes the first address. */
  shift(): void {
    const last = this.heap.pop();
    if (last === undefined || this.heap.length === 0) return;
    this.heap[0] = last;
    for (let i = 0; ;) {
      const [left, right] = [2 * i + 1, 2 * i + 2];
      const child = isBefore(this.heap[right], this.heap[left]) ? right : left;
      if (!this.swapIfBefore(child, i)) return;
      i = child;
    }
  }

  private swapIfBefore(child: number, parent: number): boolean {
    const [a, b] = [this.heap[child], this.heap[parent]];
    if (!a || !b || !isBefore(a, b)) return false;
    [this.heap[child], this.heap[parent]] = [b, a];
    return true;
  }
}

function isBefore(a: CoolingAddress | undefined, b: CoolingAddress | undefined): boolean {
  if (!a || !b) return a !== undefined;
  return a.until !== b.until ? a.until < b.until : a.n < b.n;
}
