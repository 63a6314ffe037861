import { identityKey, type Identity, type Resource } from '@causeway/resources';
import type { IndexChange } from '@causeway/store';

/** A resource of which a reader has to be told, by what the index holds when its turn comes. */
export interface PendingChange {
  readonly key: string;
  readonly id: Identity;
  /** Whether the reader may have been told of it as selected: if it no longer is, it is told as deleted. */
  readonly wasSelected: boolean;
}

/** What an entry costs besides its key: the entry of a map and a small object. */
const ENTRY_BYTES = 160;

/**
 * Which resources a reader has not been told of yet, each once. Nothing of their content is kept: a slow reader costs a
 * small entry for each resource that changed, whatever its size and however often it changes. `account` hears of every
 * byte that comes and goes.
 */
export class PendingChanges {
  private changes = new Map<string, PendingChange>();
  private taken = new Map<string, PendingChange>();
  private held = 0;

  constructor(
    private readonly isSelected: (resource: Resource) => boolean,
    private readonly onBytes: (bytes: number) => void = () => undefined,
  ) {}

  /** Changes that wait to be taken. */
  get waiting(): number {
    return this.changes.size;
  }

  /** Changes that wait to be taken or told. */
  get size(): number {
    return this.changes.size + this.taken.size;
  }

  /** Bytes that all of it takes, estimated. */
  get bytes(): number {
    return this.held;
  }

  /** Adds a change; what the reader knew before the first of several counts. */
  add({ key, id, before, after }: IndexChange): void {
    const earlier = this.changes.get(key);
    const wasSelected = earlier ? earlier.wasSelected : before !== undefined && this.isSelected(before);
    if (!earlier && !wasSelected && !(after && this.isSelected(after))) return;
    this.put({ key, id, wasSelected });
  }

  /** Adds a resource of which only is known that it changed since the reader looked last. */
  addReplayed(id: Identity): void {
    this.put({ key: identityKey(id), id, wasSelected: true });
  }

  /** Takes everything out, one after another. What is not taken to the end stays counted until `clear`. */
  *take(): Generator<PendingChange> {
    this.taken = this.changes;
    this.changes = new Map();
    for (const change of this.taken.values()) {
      if (!this.taken.delete(change.key)) return;
      this.count(-bytesOf(change.key));
      yield change;
    }
  }

  /** Forgets a change, because the reader was told the newest state just now. */
  forget(key: string): void {
    if (this.changes.delete(key)) this.count(-bytesOf(key));
  }

  /** Forgets everything. */
  clear(): void {
    this.changes = new Map();
    this.taken = new Map();
    this.count(-this.held);
  }

  private put(change: PendingChange): void {
    if (!this.changes.delete(change.key)) this.count(bytesOf(change.key));
    this.changes.set(change.key, change);
  }

  private count(bytes: number): void {
    this.held += bytes;
    this.onBytes(bytes);
  }
}

function bytesOf(key: string): number {
  return ENTRY_BYTES + key.length;
}
