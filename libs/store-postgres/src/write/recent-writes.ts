import { identityKey, type Resource, type StorePoint } from '@causeway/resources';
import type { ChangeBatch, ResourceLookup, PatchChange, StoreChange, WriteRequest, WriteResult } from '@causeway/store';
import type { ResourceRow } from '../database/entities';
import { decodeChange, StringInterner, resourceWith } from '../log/row-decode';

/** Echo of a write by `causeway_write`: the revision before it, and either its rows in their order or its time. */
export type WriteEcho = {
  readonly incarnation: string;
  readonly after: number;
  readonly floor: number;
} & (WrittenRows | WrittenPatches);

interface WrittenRows {
  readonly rows: readonly ResourceRow[];
}

/** A write that changed only the fields that its patches name. `at`: ms since 1970. */
interface WrittenPatches {
  readonly rows?: undefined;
  readonly at: number;
}

/** A write that a watch can apply. `changes` is undefined where the reader does not hold the rows it was made from. */
interface RecentWrite {
  readonly size: number;
  changes(held: ResourceLookup | undefined): readonly StoreChange[] | undefined;
  readonly revision: number;
  readonly floor: number;
}

/** Watches that are further behind than this number of writes, or of changes, read the log. */
const [WRITES_KEPT, CHANGES_KEPT] = [100, 10_000];

/**
 * The last writes of this process. A write contains all revisions from the one before it to its own, so a watch at the
 * revision before misses nothing when it gets the write from here instead of reading the log; and its reader then holds
 * the rows that the write was made from.
 */
export class RecentWrites {
  private readonly writes = new Map<string, RecentWrite>();
  private size = 0;

  /** Remembers a write that has been committed. */
  add(echo: WriteEcho, { changes }: Pick<WriteRequest, 'changes'>, { revision, results }: WriteResult): void {
    const { after, floor, incarnation } = echo;
    const common = { revision, floor };
    if (echo.rows) {
      const rows = listLatest(echo.rows, incarnation);
      this.keep({ incarnation, revision: after }, { ...common, size: rows.length, changes: () => rows });
      return;
    }
    const patches = changes.flatMap((change, n): Patched[] => {
      const result = results[n];
      return result?.type === 'written' && change.type === 'patch' ? [{ change, revision: result.revision }] : [];
    });
    const { at } = echo;
    const write = { ...common, size: patches.length, changes: (held?: ResourceLookup) => applied(patches, at, held) };
    this.keep({ incarnation, revision: after }, write);
  }

  /** Returns the write right after `point`; undefined if another process made it, if it was evicted, or if `held` lacks its base rows. */
  after(point: StorePoint, held?: ResourceLookup): ChangeBatch | undefined {
    const write = this.writes.get(formatKey(point));
    const changes = write?.changes(held);
    return write && changes && { revision: write.revision, changes, compactionRevision: write.floor };
  }

  private keep(point: StorePoint, write: RecentWrite): void {
    this.writes.set(formatKey(point), write);
    this.size += write.size;
    for (const [key, { size }] of this.writes) {
      if (this.writes.size <= WRITES_KEPT && (this.size <= CHANGES_KEPT || this.writes.size === 1)) break;
      this.writes.delete(key);
      this.size -= size;
    }
  }
}

/** Returns the latest row of each resource, as a change. */
function listLatest(rows: readonly ResourceRow[], incarnation: string): readonly StoreChange[] {
  const texts = new StringInterner();
  const latest = new Map<string, StoreChange>();
  for (const row of rows) {
    const change = decodeChange(row, incarnation, texts);
    latest.set(identityKey(change.type === 'put' ? change.resource.id : change.tombstone.id), change);
  }
  return [...latest.values()];
}

/** A written patch and its revision. */
interface Patched {
  readonly change: PatchChange;
  readonly revision: number;
}

function applied(patches: readonly Patched[], at: number, held: ResourceLookup | undefined): StoreChange[] | undefined {
  if (!held) return undefined;
  const changes: StoreChange[] = [];
  for (const { change, revision } of patches) {
    const before = held(change.id);
    if (before?.revision !== change.expect) return undefined;
    changes.push({ type: 'put', resource: patched(before, change, revision, at) });
  }
  return changes;
}

function patched(before: Resource, change: PatchChange, revision: number, modifiedAt: number): Resource {
  const { id, uid, labels, spec, generation, creationOrder, createdAt, origin, freed } = before;
  const facts = { id, uid, labels, spec, generation, creationOrder, createdAt, modifiedAt, revision, origin, freed };
  const { status = before.status, graceStartedAt = before.graceStartedAt } = change;
  return resourceWith(facts, status, graceStartedAt);
}

function formatKey({ incarnation, revision }: StorePoint): string {
  return `${incarnation}/${revision}`;
}
