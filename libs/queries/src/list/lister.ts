import type { AccessTarget } from '@causeway/access';
import type { Resource } from '@causeway/resources';
import { yieldToEventLoop } from '@causeway/runtime';
import type { IndexReader } from '@causeway/store';
import { matchesLabels, type LabelRequirement } from './label-selector';
import type { PageRequest, SortKey } from './page';
import { compareSortKeys, type ListEntry, type SortedIndex } from './sorted-index';

/** Maximum number of resources that a search reads in one turn of the event loop. */
const MAX_SCANNED_PER_TURN = 5_000;

/** Conditions for the resources of a list or watch; all must hold, undefined means any. */
export interface Selection {
  /** Text that the name contains. */
  readonly name: string | undefined;
  readonly namespace: string | undefined;
  /** Zone of origin; empty: the global. */
  readonly zone: string | undefined;
  readonly labels: readonly LabelRequirement[];
}

/** Scope of a list or watch: a kind, in one mesh or (undefined) in all, and a selection of it. */
export interface ListScope {
  readonly kind: string;
  readonly mesh: string | undefined;
  readonly selection: Selection;
}

/** Returns the target on which a caller needs a right to list or watch. */
export function targetOfScope({ kind, mesh, selection }: ListScope): AccessTarget {
  return { kind, mesh, namespace: selection.namespace };
}

/** One page of a list. */
export interface ListPage {
  /** Resources in the whole list. */
  readonly total: number;
  readonly resources: readonly Resource[];
  /** Whether another page follows. */
  readonly more: boolean;
}

/** Some resources of a list; `last` is the sort key to continue after, undefined at the end of the list. */
export interface ListChunk {
  readonly resources: readonly Resource[];
  readonly last: SortKey | undefined;
}

/** Returns whether the selection includes `resource`. */
export function isSelected(resource: Resource, { name, namespace, zone, labels }: Selection): boolean {
  const { id } = resource;
  return (
    (name === undefined || id.name.includes(name)) &&
    (namespace === undefined || id.namespace === namespace) &&
    (zone === undefined || id.zone === zone) &&
    (labels.length === 0 || matchesLabels(resource, labels))
  );
}

/** Lists from the in-memory index: sorted by mesh, name, zone, namespace, so that pages are stable. */
export class Lister {
  constructor(
    private readonly index: IndexReader,
    private readonly sorted: SortedIndex,
  ) {}

  /** Returns one page of `scope`. A long search runs in slices and rejects with the signal's reason when the signal aborts. */
  async page(scope: ListScope, { size, start }: PageRequest, signal: () => AbortSignal): Promise<ListPage> {
    const entries = await this.entries(scope, signal);
    const from = start.type === 'offset' ? start.offset : start.key ? firstAfter(entries, start.key) : 0;
    const resources = entries.slice(from, from + size).flatMap((entry) => this.index.byIdentityKey(entry.key) ?? []);
    return { total: entries.length, resources, more: from + size < entries.length };
  }

  /** Returns the next resources of `scope` after a sort key; reads at most `limit` resources. */
  next(scope: ListScope, after: SortKey | undefined, limit: number): ListChunk {
    const { kind, mesh, selection } = scope;
    const all = this.sorted.of(kind);
    const from = after ? firstAfter(all, after) : mesh === undefined ? 0 : firstOfMesh(all, mesh);
    const seen = all.slice(from, from + limit).filter(({ id }) => mesh === undefined || id.mesh === mesh);
    const resources = seen.flatMap((entry) => this.index.byIdentityKey(entry.key) ?? []);
    const last = seen.length < limit ? undefined : seen.at(-1)?.id;
    return { resources: resources.filter((resource) => isSelected(resource, selection)), last };
  }

  /**
   * Returns all resources of a mesh, or of all meshes, as of this turn of the event loop. Call `ready` first. Costs a
   * reference per resource; the caller applies `isSelected`, and can yield the event loop in between.
   */
  snapshot({ kind, mesh }: Pick<ListScope, 'kind' | 'mesh'>): readonly Resource[] {
    return this.inMesh(kind, mesh).flatMap((entry) => this.index.byIdentityKey(entry.key) ?? []);
  }

  /** Resolves when `next`, `page` and `snapshot` of a kind need no long sort. */
  ready(kind: string, signal: () => AbortSignal): Promise<void> {
    return this.sorted.ready(kind, signal);
  }

  private async entries(
    { kind, mesh, selection }: ListScope,
    signal: () => AbortSignal,
  ): Promise<readonly ListEntry[]> {
    await this.ready(kind, signal);
    const inMesh = this.inMesh(kind, mesh);
    if (selectsAll(selection)) return inMesh;
    const selected: ListEntry[] = [];
    for (let from = 0; from < inMesh.length; from += MAX_SCANNED_PER_TURN) {
      if (from > 0) {
        await yieldToEventLoop();
        signal().throwIfAborted();
      }
      for (const entry of inMesh.slice(from, from + MAX_SCANNED_PER_TURN)) {
        const resource = this.index.byIdentityKey(entry.key);
        if (resource && isSelected(resource, selection)) selected.push(entry);
      }
    }
    return selected;
  }

  private inMesh(kind: string, mesh: string | undefined): readonly ListEntry[] {
    const all = this.sorted.of(kind);
    return mesh === undefined ? all : all.slice(firstOfMesh(all, mesh), firstAfterMesh(all, mesh));
  }
}

function selectsAll({ name, namespace, zone, labels }: Selection): boolean {
  return name === undefined && namespace === undefined && zone === undefined && labels.length === 0;
}

function firstOfMesh(entries: readonly ListEntry[], mesh: string): number {
  return findFirst(entries, (entry) => entry.id.mesh >= mesh);
}

function firstAfterMesh(entries: readonly ListEntry[], mesh: string): number {
  return findFirst(entries, (entry) => entry.id.mesh > mesh);
}

function firstAfter(entries: readonly ListEntry[], key: SortKey): number {
  return findFirst(entries, (entry) => compareSortKeys(entry.id, key) > 0);
}

/** Finds by binary search the first position at which `isPast` holds; it must hold for all later positions. */
function findFirst(entries: readonly ListEntry[], isPast: (entry: ListEntry) => boolean): number {
  let low = 0;
  let high = entries.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const entry = entries[middle];
    if (entry && isPast(entry)) high = middle;
    else low = middle + 1;
  }
  return low;
}
