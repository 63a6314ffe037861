import type { SelectorTerm } from './attribute-index';

/** Selectors by one of their terms: finds those that may concern what has changed. */
export class SelectorIndex {
  private readonly byTerm = new Map<string, Set<string>>();
  private readonly terms = new Map<string, string>();

  clear(): void {
    this.byTerm.clear();
    this.terms.clear();
  }

  /** Notes the selector of `id`, in place of what it was; without terms it is forgotten. */
  put(id: string, terms: readonly SelectorTerm[]): void {
    const before = this.terms.get(id);
    if (before !== undefined) this.remove(id, before);
    const term = this.rarest(terms.map(keyOf));
    if (term === undefined) return;
    this.terms.set(id, term);
    this.byTerm.set(term, (this.byTerm.get(term) ?? new Set()).add(id));
  }

  /** Selectors that something with this term may match. */
  idsFor(term: SelectorTerm): Iterable<string> {
    return this.byTerm.get(keyOf(term)) ?? [];
  }

  /** The term that fewest selectors stand under: a change then wakes few in vain. */
  private rarest(terms: readonly string[]): string | undefined {
    const size = (term: string): number => this.byTerm.get(term)?.size ?? 0;
    return terms.reduce<string | undefined>(
      (best, term) => (best === undefined || size(term) < size(best) ? term : best),
      undefined,
    );
  }

  private remove(id: string, term: string): void {
    this.terms.delete(id);
    const ids = this.byTerm.get(term);
    ids?.delete(id);
    if (ids?.size === 0) this.byTerm.delete(term);
  }
}

function keyOf({ attribute, value }: SelectorTerm): string {
  return `${attribute}\n${value}`;
}
