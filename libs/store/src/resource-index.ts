import {
  identityKey,
  type Identity,
  type Resource,
  type ResourceKey,
  type StorePoint,
  type Tombstone,
} from '@causeway/resources';
import { LabelIndex } from './label-index';
import type { ChangeBatch, Snapshot } from './resource-store';

/** A changed resource: its former and its current state in the index. */
export interface IndexChange {
  readonly key: ResourceKey;
  readonly id: Identity;
  readonly before: Resource | undefined;
  readonly after: Resource | undefined;
}

/** Event for listeners after the index has applied a batch. */
export interface IndexEvent {
  readonly point: StorePoint;
  /** A new snapshot was loaded: all derived state must be rebuilt; `changes` is empty. */
  readonly reloaded: boolean;
  readonly changes: readonly IndexChange[];
}

export type IndexListener = (event: IndexEvent) => void;

/** In-memory state of a store for all readers: reads never wait and never see half a batch. */
export interface IndexReader {
  /** Position of the index; undefined before the first load. */
  readonly point: StorePoint | undefined;
  /** Revision up to which the index has dropped tombstones. */
  readonly compactionRevision: number;
  /** Number of living resources. */
  readonly size: number;
  get(id: Identity): Resource | undefined;
  /** Returns the resource with this `ResourceKey`; undefined for any other text. */
  byIdentityKey(key: string): Resource | undefined;
  /** Returns all resources of a kind, in no particular order. Copy them before writing to the store. */
  ofKind(kind: string): Iterable<Resource>;
  /** `ofKind` with identity keys; the keys are the index's own strings, so a list of all of them needs no copies. */
  listEntries(kind: string): Iterable<readonly [key: ResourceKey, resource: Resource]>;
  countKind(kind: string): number;
  /** Returns the kinds that have resources, whether or not a definition declares them now; in no particular order. */
  kindNames(): Iterable<string>;
  /** Returns the number of resources of a kind by mesh; meshes without any are omitted. */
  countByMesh(kind: string): ReadonlyMap<string, number>;
  /** Returns a number that grows whenever a resource of the kind is created, changed or deleted. */
  getVersion(kind: string): number;
  /**
   * Returns the resources of a kind whose label `key`, stored or implied, is `value`; in no particular order. The first
   * query for a label indexes it for its kind; later ones cost the size of the result.
   */
  withLabel(kind: string, key: string, value: string): Iterable<Resource>;
  /** Returns tombstones of deleted resources, with the addresses that they freed. */
  tombstones(): Iterable<Tombstone>;
  /** Returns tombstones of one kind, by identity key. */
  listTombstones(kind: string): Iterable<readonly [key: ResourceKey, tombstone: Tombstone]>;
  tombstone(id: Identity): Tombstone | undefined;
  /**
   * Calls `listener` after each change until the returned function is called. Listeners run synchronously, must not
   * throw and must be fast.
   */
  subscribe(listener: IndexListener): () => void;
  /**
   * Resolves when the index has reached a revision of its incarnation, or a point in the point's incarnation: a
   * resource that the index then lacks does not exist (docs/design.md §5 Absence is not deletion). Rejects with the
   * signal's reason if the signal aborts first.
   */
  reached(target: number | StorePoint, signal?: AbortSignal): Promise<void>;
}

/** The index itself: `followStore` writes to it with `load` and `apply`; all others use it as an `IndexReader`. */
export class ResourceIndex implements IndexReader {
  private readonly byKey: Map<string, Resource> = new Map<ResourceKey, Resource>();
  private readonly byKind = new Map<string, Map<ResourceKey, Resource>>();
  private readonly versions = new Map<string, number>();
  private readonly meshCounts = new Map<string, Map<string, number>>();
  /** Number of loads: kinds that lost their last resource by one have changed too. */
  private loads = 0;
  private readonly byLabel = new Map<string, LabelIndex>();
  private readonly deletedByKey = new Map<ResourceKey, Tombstone>();
  private readonly deletedByKind = new Map<string, Map<ResourceKey, Tombstone>>();
  private forgotten = 0;
  private readonly listeners = new Set<IndexListener>();
  private readonly waiting = new Set<{ readonly target: number | StorePoint; readonly resolve: () => void }>();
  private current: StorePoint | undefined;

  get point(): StorePoint | undefined {
    return this.current;
  }

  get compactionRevision(): number {
    return this.forgotten;
  }

  get size(): number {
    return this.byKey.size;
  }

  get(id: Identity): Resource | undefined {
    return this.byKey.get(identityKey(id));
  }

  byIdentityKey(key: string): Resource | undefined {
    return this.byKey.get(key);
  }

  ofKind(kind: string): Iterable<Resource> {
    return this.byKind.get(kind)?.values() ?? [];
  }

  listEntries(kind: string): Iterable<readonly [key: ResourceKey, resource: Resource]> {
    return this.byKind.get(kind) ?? [];
  }

  countKind(kind: string): number {
    return this.byKind.get(kind)?.size ?? 0;
  }

  *kindNames(): Iterable<string> {
    for (const [kind, { size }] of this.byKind) if (size > 0) yield kind;
  }

  countByMesh(kind: string): ReadonlyMap<string, number> {
    return this.meshCounts.get(kind) ?? new Map<string, number>();
  }

  getVersion(kind: string): number {
    return this.loads + (this.versions.get(kind) ?? 0);
  }

  withLabel(kind: string, key: string, value: string): Iterable<Resource> {
    let labels = this.byLabel.get(kind);
    if (!labels) this.byLabel.set(kind, (labels = new LabelIndex()));
    return labels.with(key, value, this.byKind.get(kind) ?? new Map<ResourceKey, Resource>());
  }

  tombstones(): Iterable<Tombstone> {
    return this.deletedByKey.values();
  }

  listTombstones(kind: string): Iterable<readonly [key: ResourceKey, tombstone: Tombstone]> {
    return this.deletedByKind.get(kind) ?? [];
  }

  tombstone(id: Identity): Tombstone | undefined {
    return this.deletedByKey.get(identityKey(id));
  }

  /** Replaces everything by a snapshot. */
  load(snapshot: Snapshot): void {
    this.byKey.clear();
    this.byKind.clear();
    this.meshCounts.clear();
    this.byLabel.clear();
    this.deletedByKey.clear();
    this.deletedByKind.clear();
    this.forgotten = 0;
    this.loads++;
    for (const resource of snapshot.resources) this.set(identityKey(resource.id), resource);
    for (const tombstone of snapshot.tombstones) this.addTombstone(identityKey(tombstone.id), tombstone);
    this.moveTo(snapshot.point, true, []);
  }

  /** Applies the next batch of the watch. */
  apply(batch: ChangeBatch): void {
    if (!this.current) throw new Error('an index takes changes only after it was loaded');
    const changes = batch.changes.map((change): IndexChange => {
      const id = change.type === 'put' ? change.resource.id : change.tombstone.id;
      const key = identityKey(id);
      const before = this.byKey.get(key);
      if (change.type === 'put') {
        this.set(key, change.resource);
        this.removeTombstone(key, id.kind);
        return { key, id, before, after: change.resource };
      }
      this.unset(key, id);
      this.addTombstone(key, change.tombstone);
      return { key, id, before, after: undefined };
    });
    this.forgetTombstones(batch.compactionRevision ?? 0);
    this.moveTo({ incarnation: this.current.incarnation, revision: batch.revision }, false, changes);
  }

  subscribe(listener: IndexListener): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  async reached(target: number | StorePoint, signal?: AbortSignal): Promise<void> {
    if (isReached(target, this.current)) return;
    await new Promise<void>((resolve, reject) => {
      const stop = (): void => {
        this.waiting.delete(entry);
        reject(signal?.reason instanceof Error ? signal.reason : new Error('aborted'));
      };
      const entry = {
        target,
        resolve: () => {
          signal?.removeEventListener('abort', stop);
          resolve();
        },
      };
      this.waiting.add(entry);
      if (signal?.aborted) stop();
      else signal?.addEventListener('abort', stop, { once: true });
    });
  }

  private set(key: ResourceKey, resource: Resource): void {
    const { kind } = resource.id;
    this.versions.set(kind, (this.versions.get(kind) ?? 0) + 1);
    this.byLabel.get(kind)?.move(key, this.byKey.get(key), resource);
    if (!this.byKey.has(key)) this.count(resource.id, 1);
    this.byKey.set(key, resource);
    const ofKind = this.byKind.get(kind);
    if (ofKind) ofKind.set(key, resource);
    else this.byKind.set(kind, new Map([[key, resource]]));
  }

  private unset(key: ResourceKey, id: Identity): void {
    const { kind } = id;
    if (this.byKey.has(key)) this.count(id, -1);
    this.versions.set(kind, (this.versions.get(kind) ?? 0) + 1);
    this.byLabel.get(kind)?.move(key, this.byKey.get(key), undefined);
    this.byKey.delete(key);
    this.byKind.get(kind)?.delete(key);
  }

  private count({ kind, mesh }: Identity, change: 1 | -1): void {
    const counts = this.meshCounts.get(kind) ?? new Map<string, number>();
    this.meshCounts.set(kind, counts);
    const count = (counts.get(mesh) ?? 0) + change;
    if (count === 0) counts.delete(mesh);
    else counts.set(mesh, count);
  }

  /** Drops tombstones up to `floor`, which the store has purged: an index that runs for weeks must not keep them. */
  private forgetTombstones(floor: number): void {
    if (floor <= this.forgotten) return;
    this.forgotten = floor;
    for (const [key, { revision, id }] of this.deletedByKey) if (revision <= floor) this.removeTombstone(key, id.kind);
  }

  private addTombstone(key: ResourceKey, tombstone: Tombstone): void {
    const { kind } = tombstone.id;
    this.deletedByKey.set(key, tombstone);
    const ofKind = this.deletedByKind.get(kind);
    if (ofKind) ofKind.set(key, tombstone);
    else this.deletedByKind.set(kind, new Map([[key, tombstone]]));
  }

  private removeTombstone(key: ResourceKey, kind: string): void {
    this.deletedByKey.delete(key);
    this.deletedByKind.get(kind)?.delete(key);
  }

  private moveTo(point: StorePoint, reloaded: boolean, changes: readonly IndexChange[]): void {
    this.current = point;
    for (const listener of this.listeners) listener({ point, reloaded, changes });
    for (const entry of this.waiting) {
      if (!isReached(entry.target, point)) continue;
      this.waiting.delete(entry);
      entry.resolve();
    }
  }
}

function isReached(target: number | StorePoint, current: StorePoint | undefined): boolean {
  if (!current) return false;
  if (typeof target === 'number') return current.revision >= target;
  return current.incarnation === target.incarnation && current.revision >= target.revision;
}
