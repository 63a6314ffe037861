import { compareText, identityKey, type Identity, type ResourceKey } from '@causeway/resources';
import { inSlices, SingleFlight, SortedRuns } from '@causeway/runtime';
import { followIndex, type IndexChange, type IndexedState, type IndexReader } from '@causeway/store';
import type { SortKey } from './page';

/** One resource in the sorted list of its kind. */
export interface ListEntry {
  readonly key: ResourceKey;
  readonly id: Identity;
}

/** Compares in the order of lists: mesh, name, zone, namespace, each by code unit. */
export function compareSortKeys(a: SortKey, b: SortKey): number {
  return (
    compareText(a.mesh, b.mesh) ||
    compareText(a.name, b.name) ||
    compareText(a.zone, b.zone) ||
    compareText(a.namespace, b.namespace)
  );
}

/** Maximum size of a delta that is merged; for a larger one the kind is sorted again in slices. */
const MAX_UNMERGED = 5_000;

/** Resources created and deleted since the entries were sorted. */
class Delta {
  readonly added = new Map<string, ListEntry>();
  /** Keys of sorted entries that were deleted, or replaced by one in `added`. */
  readonly replaced = new Set<string>();

  record(entry: ListEntry, exists: boolean): void {
    this.replaced.add(entry.key);
    if (exists) this.added.set(entry.key, entry);
    else this.added.delete(entry.key);
  }
}

interface SortedEntries {
  readonly entries: readonly ListEntry[];
  readonly delta: Delta;
}

/**
 * The resources of each kind in list order. Sorting 100,000 on each request would cost more than the response, so a
 * kind is sorted on first use, in slices, and later merged with the created and deleted resources.
 */
export class SortedIndex implements IndexedState {
  private readonly sorted = new Map<string, SortedEntries>();
  /** Deltas of the sorts that are running. */
  private readonly sorting = new Map<string, Delta>();
  private readonly sorts = new Map<string, SingleFlight<void>>();

  constructor(private readonly index: IndexReader) {}

  /** Follows the index until the returned function is called. */
  follow(): () => void {
    return followIndex(this.index, this);
  }

  /**
   * Resolves when `of` is cheap; call it in the same turn of the event loop. Long sorts run in slices while a caller
   * waits. Rejects with the signal's reason when the signal aborts before.
   */
  async ready(kind: string, signal: () => AbortSignal): Promise<void> {
    for (let sorted = this.sorted.get(kind); !sorted || sorted.delta.added.size > MAX_UNMERGED;) {
      await this.getSort(kind).result(signal());
      sorted = this.sorted.get(kind);
    }
  }

  /** Returns all entries of a kind, sorted; sorts in one piece if `ready` was not awaited. */
  of(kind: string): readonly ListEntry[] {
    const sorted = this.sorted.get(kind);
    if (sorted?.delta.replaced.size === 0) return sorted.entries;
    const entries = sorted ? mergeDelta(sorted) : [...this.index.ofKind(kind)].map(toEntry).sort(compareEntries);
    this.sorted.set(kind, { entries, delta: new Delta() });
    return entries;
  }

  /** Every kind is sorted again at its next use. */
  reload(): void {
    this.sorted.clear();
    this.sorting.clear();
  }

  apply(changes: readonly IndexChange[]): void {
    for (const { key, id, before, after } of changes) {
      if ((before === undefined) === (after === undefined)) continue;
      this.sorted.get(id.kind)?.delta.record({ key, id }, after !== undefined);
      this.sorting.get(id.kind)?.record({ key, id }, after !== undefined);
    }
  }

  private getSort(kind: string): SingleFlight<void> {
    const sort = this.sorts.get(kind) ?? new SingleFlight((signal) => this.sort(kind, signal));
    this.sorts.set(kind, sort);
    return sort;
  }

  private async sort(kind: string, signal: AbortSignal): Promise<void> {
    const delta = new Delta();
    this.sorting.set(kind, delta);
    const entries: ListEntry[] = [];
    try {
      await inSlices(this.inOrder(kind, entries), signal);
      // Another delta, or none, means that the index was reloaded during the sort.
      if (this.sorting.get(kind) === delta) this.sorted.set(kind, { entries, delta });
    } finally {
      if (this.sorting.get(kind) === delta) this.sorting.delete(kind);
    }
  }

  private *inOrder(kind: string, entries: ListEntry[]): Generator<unknown> {
    const runs = new SortedRuns(compareEntries);
    for (const resource of this.index.ofKind(kind)) yield runs.add(toEntry(resource));
    for (const entry of runs) yield entries.push(entry);
  }
}

function toEntry({ id }: { readonly id: Identity }): ListEntry {
  return { key: identityKey(id), id };
}

function compareEntries(a: ListEntry, b: ListEntry): number {
  return compareSortKeys(a.id, b.id);
}

function mergeDelta({ entries, delta }: SortedEntries): readonly ListEntry[] {
  const kept = entries.filter((entry) => !delta.replaced.has(entry.key));
  const added = [...delta.added.values()].sort(compareEntries);
  if (added.length === 0) return kept;
  const merged: ListEntry[] = [];
  let next = 0;
  for (const entry of kept) {
    for (let extra = added[next]; extra && compareEntries(extra, entry) < 0; extra = added[++next]) merged.push(extra);
    merged.push(entry);
  }
  return merged.concat(added.slice(next));
}
