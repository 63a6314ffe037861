import type {
  Identity,
  JsonObject,
  Labels,
  OriginRevision,
  Resource,
  StorePoint,
  Tombstone,
} from '@causeway/resources';
import type { AuditSource } from './audit-log';

/** Stored state on which a change is based: a row revision, no row, or any state. */
export type Expectation = number | 'absent' | 'any';

/** Creates or replaces labels and spec. Without `status` the stored one is kept. Equal content writes nothing. */
export interface PutChange {
  readonly type: 'put';
  readonly id: Identity;
  readonly expect: Expectation;
  readonly labels: Labels;
  readonly spec: JsonObject;
  readonly status?: JsonObject;
  /** State of the row if this write creates it; left out if the resource exists, and if another one holds the address. */
  readonly initial?: InitialState;
  /** Set on copies of another store's resource: these facts are kept as at the origin (docs/design.md §5). */
  readonly copy?: CopyFacts;
  /**
   * Set on copies that a zone's session writes: the source of the creation order (docs/adr/0012-the-order-that-counts.md). `now`:
   * the zone's complete state of the kind was known until this write. `moment`: not since the last marked moment.
   */
  readonly orderFrom?: 'now' | 'moment';
  /** User who requested the change; without one no audit entry is written. */
  readonly audit?: AuditSource;
  /** Traceparent of a change made here; that of a copy is in `copy`. Stored only if labels or spec change. */
  readonly traceparent?: string | undefined;
}

/**
 * State that control loops give a resource in the write that creates it, in place of a write of their own right after. `vip` is as in `PatchChange`.
 */
interface InitialState {
  readonly status?: JsonObject;
  readonly vip?: string;
}

/** Facts that a copy takes from its origin. */
export interface CopyFacts {
  readonly uid: string;
  readonly generation: number;
  readonly creationOrder: number;
  readonly createdAt: number;
  readonly origin: OriginRevision;
}

/**
 * A control loop's write: changes only the given parts, never the generation. `vip` sets the typed column that no two
 * living rows share (docs/design.md §2.6); the replaced address is added to `freed` by the store's clock. `null` clears
 * a part.
 */
export interface PatchChange {
  readonly type: 'patch';
  readonly id: Identity;
  readonly expect: number | 'any';
  readonly spec?: JsonObject;
  readonly status?: JsonObject;
  readonly vip?: string | null;
  readonly graceStartedAt?: number | null;
  /** Raises the creation order to this one if it is later than the stored one; 0 is the latest. */
  readonly creationOrder?: number;
  /** As in PutChange. */
  readonly traceparent?: string | undefined;
}

/** Deletes a resource: leaves a tombstone and frees the VIP. Refused as `absent` if it does not exist. */
export interface DeleteChange {
  readonly type: 'delete';
  readonly id: Identity;
  readonly expect: number | 'any';
  /** As in PutChange. */
  readonly audit?: AuditSource;
}

export type Change = PutChange | PatchChange | DeleteChange;

/** The leader's right to write: refused unless exactly this epoch and holder are current in the store (docs/design.md §3). */
export interface Fence {
  readonly epoch: number;
  readonly holder: string;
}

/** A zone session's right to write on the global: refused unless this session is the zone's current one (docs/design.md §5). */
interface SessionFence {
  readonly zone: string;
  readonly session: number;
}

/** An entry beside the log, such as cursors, insights, marks. Raises no revision and wakes no watch (docs/design.md §2.8). */
export interface MetadataEntry {
  readonly area: string;
  readonly key: string;
  /** `null` removes the entry. */
  readonly value: JsonObject | null;
  /** Skips the entry if the write stores a creation order that the origin does not know (`orderFrom`). */
  readonly unlessRaised?: true;
}

/**
 * Reads on which a decision is based, at one revision: the resources of `kinds`, or all resources of a mesh. The write
 * is refused if another write created, changed or deleted one of them after that revision (docs/design.md §2.9).
 */
export interface ReadSet {
  readonly revision: number;
  readonly kinds?: readonly string[];
  readonly mesh?: string;
}

export interface WriteRequest {
  readonly changes: readonly Change[];
  /** `abort`: one refused change rolls back all and throws; `skip`: the others are written. */
  readonly onRefusal: 'abort' | 'skip';
  readonly fence?: Fence;
  readonly session?: SessionFence;
  /** Every change is refused as `outdated` if this read set has changed; a store that writes in parts stops there. */
  readonly unchanged?: ReadSet;
  /** Written atomically with the changes. */
  readonly metadata?: readonly MetadataEntry[];
  /**
   * With `skip`: called with the results of each durable part, in the order of the changes, before `write` resolves or
   * throws. The store chooses the parts.
   */
  readonly onDurable?: (results: readonly ChangeResult[]) => void;
}

/**
 * Reason of a refusal: based on another revision; the resource exists; it does not exist; the copy is older than the
 * stored one of the same incarnation; the address is held by another resource, or freed by the same write; the read set
 * has changed (`unchanged`); or no store can hold the content (NUL, half a surrogate pair, too deeply nested).
 */
export type Refusal = 'conflict' | 'exists' | 'absent' | 'older' | 'vip-taken' | 'outdated' | 'unstorable';

/** The result of one change, in the order of the request. */
export type ChangeResult =
  | {
      readonly type: 'written';
      readonly created: boolean;
      readonly revision: number;
      readonly generation: number;
      readonly uid: string;
      /** Set if it differs from the creation order of the copy (`orderFrom`). */
      readonly creationOrder?: number;
    }
  | {
      readonly type: 'unchanged';
      readonly revision: number;
      readonly generation: number;
      readonly uid: string;
      /** As in `written`. */
      readonly creationOrder?: number;
    }
  | { readonly type: 'refused'; readonly refusal: Refusal; readonly detail: string };

export interface WriteResult {
  /** A reader that has reached this revision has seen the whole write; also set if nothing changed. */
  readonly revision: number;
  readonly results: readonly ChangeResult[];
}

export type StoreChange =
  { readonly type: 'put'; readonly resource: Resource } | { readonly type: 'delete'; readonly tombstone: Tombstone };

/** Returns the living resource that a reader holds under an identity. */
export type ResourceLookup = (id: Identity) => Resource | undefined;

/** Changes up to `revision`, the latest of each resource: a reader that has applied them has seen everything ≤ it. */
export interface ChangeBatch {
  readonly revision: number;
  readonly changes: readonly StoreChange[];
  /** Revision up to which the store has purged tombstones; readers may drop them too. */
  readonly compactionRevision?: number;
}

/** The whole state of a store at one point. */
export interface Snapshot {
  readonly point: StorePoint;
  readonly resources: readonly Resource[];
  readonly tombstones: readonly Tombstone[];
}

/** A watch cannot continue from its revision: the reader needs a new snapshot. */
export class RelistRequired extends Error {
  constructor(readonly reason: 'too-old' | 'incarnation') {
    super(
      reason === 'too-old' ? 'the revision is older than the tombstones kept' : 'the store began a new incarnation',
    );
    this.name = 'Relist';
  }
}

/** The leader or session of a write is no longer current. Nothing was written; never retry with this fence. */
export class Fenced extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'Fenced';
  }
}

/**
 * The state of one control plane. Its guarantees are numbered in docs/design.md §2 and tested by `storeConformance`:
 * optimistic concurrency, one gapless order of revisions, watch from a revision with deletions, atomic fenced batches,
 * no address twice. A write is durable when its promise resolves. Methods throw `Unavailable` while the database is
 * unavailable; a write that threw `Unavailable` may have been committed.
 */
export interface ResourceStore {
  /** Incarnation and newest committed revision, read from the primary. */
  head(): Promise<StorePoint>;
  /** Returns the revision up to which tombstones were purged: readers at this or a later revision can get all changes since. */
  compactionRevision(): Promise<number>;
  /**
   * Returns the key by which this store recognises its own resume points: random, created once, and part of every
   * backup, so that a restored store also recognises those issued after the backup (docs/design.md §2.7). Never leaves
   * the process.
   */
  pointKey(): Promise<string>;
  /** Returns the living resource, read from the primary. */
  get(id: Identity): Promise<Resource | undefined>;
  /** Returns the whole state at one consistent point. */
  snapshot(): Promise<Snapshot>;
  /** Writes all changes in one transaction. Throws Conflict (abort), Fenced, Unavailable. An empty request only checks fences. */
  write(request: WriteRequest): Promise<WriteResult>;
  /**
   * Yields batches after `since`, in order, until `signal` aborts (then it returns). Reconnects by itself. Throws
   * RelistRequired if `since` is too old or of another incarnation, also later. `held` returns what the reader holds
   * after all batches so far: a store need not read what it can derive from that.
   */
  watch(since: StorePoint, signal: AbortSignal, held?: ResourceLookup): AsyncIterable<ChangeBatch>;
  /** Returns one entry, or all of an area. */
  readMetadata(area: string, key: string): Promise<JsonObject | undefined>;
  listMetadata(area: string): Promise<readonly MetadataEntry[]>;
  /** Releases connections; watches end. */
  close(): Promise<void>;
}

/** Maintenance of a store; called by a maintenance loop or an operator, never by the mesh's own work. */
export interface StoreMaintenance {
  /**
   * Deletes tombstones older than `age` ms by the store's clock, and returns their number. Readers that have not seen
   * them must re-list (docs/design.md §2.3).
   */
  purgeTombstones(age: number): Promise<number>;
  /** Starts a new incarnation: every index and peer with the old one reloads (docs/design.md §2.7). Revisions continue, with a gap. */
  newIncarnation(): Promise<StorePoint>;
}
