/** One thing a selector asks for: an attribute (`label app`, `tag version`) and the value it must have. */
export interface SelectorTerm {
  readonly attribute: string;
  readonly value: string;
}

/**
 * Who has which value of those attributes that some selector asks for: finds the candidates of a selector without
 * looking at everybody, and costs nothing for attributes that nobody selects by.
 */
export class AttributeIndex<Item> {
  /** A single holder stands as itself: most values of a busy attribute have one. */
  private readonly keysByValue = new Map<string, Map<string, string | Set<string>>>();

  constructor(private readonly valuesOf: (item: Item, attribute: string) => readonly string[]) {}

  clear(): void {
    this.keysByValue.clear();
  }

  /** Begins to index these attributes, from `items` by key, where it does not yet. */
  ensure(terms: readonly SelectorTerm[], items: () => Iterable<readonly [string, Item]>): void {
    const steps = this.ensureStepwise(terms, items);
    while (steps.next().done !== true);
  }

  /** As `want`, one item a step; candidates are complete after the last. Items may change in between (`replace`). */
  *ensureStepwise(terms: readonly SelectorTerm[], items: () => Iterable<readonly [string, Item]>): Generator<unknown> {
    for (const { attribute } of terms) {
      if (this.keysByValue.has(attribute)) continue;
      this.keysByValue.set(attribute, new Map());
      for (const [key, item] of items()) yield this.add(attribute, key, item);
    }
  }

  /** Notes that the item at `key` changed, came (no `before`) or went (no `after`). */
  replace(key: string, before: Item | undefined, after: Item | undefined): void {
    for (const attribute of this.keysByValue.keys()) {
      if (before !== undefined) this.remove(attribute, key, before);
      if (after !== undefined) this.add(attribute, key, after);
    }
  }

  /** What of an item selectors may ask for. */
  termsOf(item: Item): readonly SelectorTerm[] {
    return [...this.keysByValue.keys()].flatMap((attribute) =>
      this.valuesOf(item, attribute).map((value) => ({ attribute, value })),
    );
  }

  /** Keys of all items that may have all of `terms`: those that have the rarest of them; nobody where there are none. */
  candidates(terms: readonly SelectorTerm[]): Iterable<string> {
    const [first, ...others] = terms.map((term) => this.holdersOf(term));
    return first ? others.reduce((best, next) => (next.size < best.size ? next : best), first) : [];
  }

  private holdersOf({ attribute, value }: SelectorTerm): ReadonlySet<string> {
    const found = this.keysByValue.get(attribute)?.get(value);
    return found === undefined ? NOBODY : typeof found === 'string' ? new Set([found]) : found;
  }

  private add(attribute: string, key: string, item: Item): void {
    const holders = this.keysByValue.get(attribute);
    for (const value of this.valuesOf(item, attribute)) {
      const found = holders?.get(value);
      if (found === undefined) holders?.set(value, key);
      else if (typeof found !== 'string') found.add(key);
      else if (found !== key) holders?.set(value, new Set([found, key]));
    }
  }

  private remove(attribute: string, key: string, item: Item): void {
    const holders = this.keysByValue.get(attribute);
    for (const value of this.valuesOf(item, attribute)) {
      const found = holders?.get(value);
      if (found === key) holders?.delete(value);
      else if (found instanceof Set && found.delete(key) && found.size === 0) holders?.delete(value);
    }
  }
}

const NOBODY: ReadonlySet<string> = new Set();
