import type { ResourceKey } from '@causeway/resources';
/** A required value of an attribute (`label app`, `tag version`). */
export interface SelectorTerm {
  readonly attribute: string;
  readonly value: string;
}

/** Items by index key. */
type ItemsByKey<Item> = () => Iterable<readonly [ResourceKey, Item]>;

/**
 * Joins selectors with the items that they select, both ways and incrementally: a changed item finds the selectors that
 * may select it, a selector finds the items that may match. Both results are supersets: callers must check each
 * candidate. Costs depend on the size of the result, not on the number of items or selectors.
 */
export class SelectorMatcher<Item> {
  private readonly items: AttributeIndex<Item>;
  private readonly selectors = new SelectorIndex();

  /** `valuesOf` returns the values of an item's attribute. */
  constructor(valuesOf: (item: Item, attribute: string) => readonly string[]) {
    this.items = new AttributeIndex(valuesOf);
  }

  clear(): void {
    this.items.clear();
    this.selectors.clear();
  }

  /** Adds or replaces the selector `key`; without terms removes it. Indexes attributes that are not indexed yet. */
  setSelector(key: ResourceKey, terms: readonly SelectorTerm[], all: ItemsByKey<Item>): void {
    for (const _ of this.index(terms, all));
    this.selectors.put(key, terms);
  }

  /**
   * Indexes the attributes of `terms` that no selector has used before, one item per step. Costs one pass over all
   * items for each new attribute. Items may change between two steps (`setItem`).
   */
  index(terms: readonly SelectorTerm[], all: ItemsByKey<Item>): Iterable<unknown> {
    return this.items.ensure(terms, all);
  }

  /** Reports whether the attributes of `terms` are indexed. */
  isIndexed(terms: readonly SelectorTerm[]): boolean {
    return terms.every(({ attribute }) => this.items.hasAttribute(attribute));
  }

  /**
   * Records that the item `key` changed, was added (no `before`) or removed (no `after`). Returns the selectors that
   * may have selected it before or may select it now; may contain duplicates.
   */
  setItem(key: ResourceKey, before: Item | undefined, after: Item | undefined): readonly ResourceKey[] {
    this.items.replace(key, before, after);
    const selectors: ResourceKey[] = [];
    for (const item of [before, after]) {
      for (const term of item === undefined ? [] : this.items.listTerms(item)) {
        for (const selector of this.selectors.findSelectors(term)) selectors.push(selector);
      }
    }
    return selectors;
  }

  /** Returns the keys of all items that may have all of `terms`: those with the rarest term; none without terms. */
  candidates(terms: readonly SelectorTerm[]): Iterable<ResourceKey> {
    return this.items.candidates(terms);
  }
}

/** The items by attribute and value, for attributes that a selector names; other attributes cost nothing. */
class AttributeIndex<Item> {
  /** A single key is stored without a set: most values of a busy attribute have one. */
  private readonly keysByValue = new Map<string, Map<string, ResourceKey | Set<ResourceKey>>>();

  constructor(private readonly valuesOf: (item: Item, attribute: string) => readonly string[]) {}

  clear(): void {
    this.keysByValue.clear();
  }

  /** Indexes these attributes where that is not done yet, one item a step; `candidates` is complete after the last. */
  *ensure(terms: readonly SelectorTerm[], all: ItemsByKey<Item>): Generator<unknown> {
    for (const { attribute } of terms) {
      if (this.keysByValue.has(attribute)) continue;
      this.keysByValue.set(attribute, new Map());
      for (const [key, item] of all()) {
        this.add(attribute, key, item);
        yield;
      }
    }
  }

  hasAttribute(attribute: string): boolean {
    return this.keysByValue.has(attribute);
  }

  replace(key: ResourceKey, before: Item | undefined, after: Item | undefined): void {
    for (const attribute of this.keysByValue.keys()) {
      if (before !== undefined) this.remove(attribute, key, before);
      if (after !== undefined) this.add(attribute, key, after);
    }
  }

  /** The indexed attributes and values of an item. */
  listTerms(item: Item): readonly SelectorTerm[] {
    return [...this.keysByValue.keys()].flatMap((attribute) =>
      this.valuesOf(item, attribute).map((value) => ({ attribute, value })),
    );
  }

  candidates(terms: readonly SelectorTerm[]): Iterable<ResourceKey> {
    const [first, ...others] = terms.map((term) => this.keysWith(term));
    return first ? others.reduce((best, next) => (next.size < best.size ? next : best), first) : [];
  }

  private keysWith({ attribute, value }: SelectorTerm): ReadonlySet<ResourceKey> {
    const keys = this.keysByValue.get(attribute)?.get(value);
    return keys === undefined ? EMPTY : typeof keys === 'string' ? new Set<ResourceKey>([keys]) : keys;
  }

  private add(attribute: string, key: ResourceKey, item: Item): void {
    const byValue = this.keysByValue.get(attribute);
    for (const value of this.valuesOf(item, attribute)) {
      const keys = byValue?.get(value);
      if (keys === undefined) byValue?.set(value, key);
      else if (typeof keys !== 'string') keys.add(key);
      else if (keys !== key) byValue?.set(value, new Set<ResourceKey>([keys, key]));
    }
  }

  private remove(attribute: string, key: ResourceKey, item: Item): void {
    const byValue = this.keysByValue.get(attribute);
    for (const value of this.valuesOf(item, attribute)) {
      const keys = byValue?.get(value);
      if (keys === key) byValue?.delete(value);
      else if (keys instanceof Set && keys.delete(key) && keys.size === 0) byValue?.delete(value);
    }
  }
}

const EMPTY: ReadonlySet<ResourceKey> = new Set();

/** Selectors, each stored under one of its terms. */
class SelectorIndex {
  private readonly byTerm = new Map<string, Set<ResourceKey>>();
  private readonly termOf = new Map<string, string>();

  clear(): void {
    this.byTerm.clear();
    this.termOf.clear();
  }

  put(id: ResourceKey, terms: readonly SelectorTerm[]): void {
    const before = this.termOf.get(id);
    if (before !== undefined) this.remove(id, before);
    const term = this.rarest(terms.map(formatTerm));
    if (term === undefined) return;
    this.termOf.set(id, term);
    this.byTerm.set(term, (this.byTerm.get(term) ?? new Set()).add(id));
  }

  /** Returns the selectors that an item with this term may match. */
  findSelectors(term: SelectorTerm): Iterable<ResourceKey> {
    return this.byTerm.get(formatTerm(term)) ?? [];
  }

  /** Returns the term with the fewest selectors, so that a change finds few selectors that do not match. */
  private rarest(terms: readonly string[]): string | undefined {
    const size = (term: string): number => this.byTerm.get(term)?.size ?? 0;
    return terms.reduce<string | undefined>(
      (best, term) => (best === undefined || size(term) < size(best) ? term : best),
      undefined,
    );
  }

  private remove(id: ResourceKey, term: string): void {
    this.termOf.delete(id);
    const ids = this.byTerm.get(term);
    ids?.delete(id);
    if (ids?.size === 0) this.byTerm.delete(term);
  }
}

function formatTerm({ attribute, value }: SelectorTerm): string {
  return `${attribute}\n${value}`;
}
