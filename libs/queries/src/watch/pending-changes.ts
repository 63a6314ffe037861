import { identityKey, type Identity, type Resource } from '@causeway/resources';
import type { IndexChange } from '@causeway/store';

/** A resource whose newest state was not sent to a reader yet; the state is read from the index when it is sent. */
export interface PendingChange {
  readonly key: string;
  readonly id: Identity;
  /** Whether the reader may have the resource: if it is no longer selected, a deletion is sent. */
  readonly wasSelected: boolean;
}

/** Estimated bytes of an entry besides its key: the entry of a map and a small object. */
const ENTRY_BYTES = 160;

/**
 * The resources whose changes were not sent to one reader yet, each once. No content is kept: a slow reader costs a
 * small entry for each changed resource, whatever its size and however often it changes. `onBytes` is called with every
 * change of `bytes`.
 */
export class PendingChanges {
  private changes = new Map<string, PendingChange>();
  private taken = new Map<string, PendingChange>();
  private held = 0;

  constructor(
    private readonly isSelected: (resource: Resource) => boolean,
    private readonly onBytes: (bytes: number) => void = () => undefined,
  ) {}

  /** Number of changes not taken yet. */
  get waiting(): number {
    return this.changes.size;
  }

  /** The waiting change, if it is the only one. */
  get only(): PendingChange | undefined {
    return this.changes.size === 1 ? this.changes.values().next().value : undefined;
  }

  /** Number of changes that wait, or are taken but not sent. */
  get size(): number {
    return this.changes.size + this.taken.size;
  }

  /** Estimated bytes of all entries. */
  get bytes(): number {
    return this.held;
  }

  /** Adds a change. Of several changes to one resource, the state before the first one is what the reader has. */
  add({ key, id, before, after }: IndexChange): void {
    const earlier = this.changes.get(key);
    const wasSelected = earlier ? earlier.wasSelected : before !== undefined && this.isSelected(before);
    if (!earlier && !wasSelected && !(after && this.isSelected(after))) return;
    this.put({ key, id, wasSelected });
  }

  /** Adds a resource that changed after the resume revision of the reader; its earlier state is not known. */
  addReplayed(id: Identity): void {
    this.put({ key: identityKey(id), id, wasSelected: true });
  }

  /** Yields and removes all changes. Changes that the caller does not take stay counted until `clear`. */
  *take(): Generator<PendingChange> {
    this.taken = this.changes;
    this.changes = new Map();
    for (const change of this.taken.values()) {
      if (!this.taken.delete(change.key)) return;
      this.count(-countBytes(change.key));
      yield change;
    }
  }

  /** Drops the change of a resource, because its newest state is sent now. */
  forget(key: string): void {
    if (this.changes.delete(key)) this.count(-countBytes(key));
  }

  /** Drops all changes. */
  clear(): void {
    this.changes = new Map();
    this.taken = new Map();
    this.count(-this.held);
  }

  private put(change: PendingChange): void {
    if (!this.changes.delete(change.key)) this.count(countBytes(change.key));
    this.changes.set(change.key, change);
  }

  private count(bytes: number): void {
    this.held += bytes;
    this.onBytes(bytes);
  }
}

function countBytes(key: string): number {
  return ENTRY_BYTES + key.length;
}
