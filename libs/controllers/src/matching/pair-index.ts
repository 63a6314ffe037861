/** One `key=value` that something carries, within a scope (mesh, namespace, sort of label). */
export type Pair = string;

/** The pairs of `labels` in `scope`; a line break parts them, which neither scope, key nor value may hold. */
export function pairsOf(scope: string, labels: { readonly [key: string]: string }): readonly Pair[] {
  return Object.entries(labels).map(([key, value]) => `${scope}\n${key}\n${value}`);
}

/** Who carries which pairs, to find candidates of a selector without looking at everybody. */
export class PairIndex {
  private readonly carriers = new Map<Pair, Set<string>>();
  private readonly pairs = new Map<string, readonly Pair[]>();

  clear(): void {
    this.carriers.clear();
    this.pairs.clear();
  }

  /** Notes all pairs that `id` carries now, in place of what it carried; none = forget it. */
  put(id: string, pairs: readonly Pair[]): void {
    for (const pair of this.pairs.get(id) ?? []) {
      const carriers = this.carriers.get(pair);
      carriers?.delete(id);
      if (carriers?.size === 0) this.carriers.delete(pair);
    }
    if (pairs.length === 0) this.pairs.delete(id);
    else this.pairs.set(id, pairs);
    for (const pair of pairs) {
      const carriers = this.carriers.get(pair);
      if (carriers) carriers.add(id);
      else this.carriers.set(pair, new Set([id]));
    }
  }

  /** The pairs noted for `id`. */
  of(id: string): readonly Pair[] {
    return this.pairs.get(id) ?? [];
  }

  carriersOf(pair: Pair): ReadonlySet<string> {
    return this.carriers.get(pair) ?? NOBODY;
  }

  /** The one of `pairs` with the fewest carriers; undefined when there are no pairs. */
  rarest(pairs: readonly Pair[]): Pair | undefined {
    let best: Pair | undefined;
    for (const pair of pairs) {
      if (best === undefined || this.carriersOf(pair).size < this.carriersOf(best).size) best = pair;
    }
    return best;
  }
}

const NOBODY: ReadonlySet<string> = new Set();
