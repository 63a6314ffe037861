/** Work of one peer that waits for its turn. */
interface Waiter {
  readonly key: string;
  /** When it would start if all peers that wait had equal shares. */
  readonly start: number;
  readonly begin: () => void;
}

/**
 * Shares a thing between peers by start-time fair queuing: at most `slots` pieces of work run at once, one a peer; of those
 * that wait the one goes first whose peer has had least. Who floods waits behind itself, not others behind it. Without
 * contention work begins at once, in the same turn. Deterministic and without I/O.
 */
export class FairQueue {
  private readonly running = new Set<string>();
  private readonly waiting: Waiter[] = [];
  /** By peer: when its share so far would end. Only those ahead of `time`. */
  private readonly ends = new Map<string, number>();
  private time = 0;

  constructor(private readonly slots: number) {}

  /** Peers that wait for a turn. */
  get contenders(): number {
    return new Set(this.waiting.map(({ key }) => key)).size;
  }

  /** Whether another peer than `key` has work here. */
  isContended(key: string): boolean {
    return this.waiting.some((entry) => entry.key !== key) || [...this.running].some((other) => other !== key);
  }

  /** Runs the work when it is the peer's turn; `cost` > 0 is what it takes of the peer's share. Settles as the work does. */
  run<T>(key: string, cost: number, work: () => Promise<T>): Promise<T> {
    const start = Math.max(this.time, this.ends.get(key) ?? 0);
    this.ends.set(key, start + cost);
    return new Promise((resolve, reject) => {
      const begin = (): void => {
        this.running.add(key);
        this.time = Math.max(this.time, start);
        work()
          .finally(() => this.left(key))
          .then(resolve, reject);
      };
      this.waiting.push({ key, start, begin });
      this.fill();
    });
  }

  private left(key: string): void {
    this.running.delete(key);
    if (this.waiting.length === 0 && this.running.size === 0) this.forget();
    this.fill();
  }

  /** Nobody waits: what anybody had is of no interest any more. */
  private forget(): void {
    this.ends.clear();
    this.time = 0;
  }

  private fill(): void {
    while (this.running.size < this.slots) {
      const next = this.next();
      if (next === undefined) return;
      this.waiting.splice(this.waiting.indexOf(next), 1);
      next.begin();
    }
  }

  private next(): Waiter | undefined {
    let first: Waiter | undefined;
    for (const entry of this.waiting) {
      if (this.running.has(entry.key)) continue;
      if (!first || entry.start < first.start) first = entry;
    }
    return first;
  }
}
