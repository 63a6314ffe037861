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

/** The stored state that a change was made from: a row revision, no row, or any state. */
export type Expectation = number | 'absent' | 'any';

/** Creates or replaces labels and spec. Without `status` the stored one stays. Equal content writes nothing. */
export interface PutChange {
  readonly type: 'put';
  readonly id: Identity;
  readonly expect: Expectation;
  readonly labels: Labels;
  readonly spec: JsonObject;
  readonly status?: JsonObject;
  /** Set on copies of another store's resource: these facts are kept as the origin has them (docs/design.md §5). */
  readonly copy?: CopyFacts;
  /**
   * Set on copies that a zone's session writes: the creation order is what counts (docs/adr/0012-the-order-that-counts.md).
   * `now`: the whole state of the kind was held until this write. `moment`: not since the moment that was marked last.
   */
  readonly orderFrom?: 'now' | 'moment';
  /** The user who asks for it; without one no entry of the audit log is written. */
  readonly audit?: AuditSource;
  /** The trace that a change made here belongs to; a copy has it in `copy`. Kept only where labels or spec change. */
  readonly traceparent?: string | undefined;
}

/** The facts that a copy takes over from its origin. */
export interface CopyFacts {
  readonly uid: string;
  readonly generation: number;
  readonly creationOrder: number;
  readonly createdAt: number;
  readonly origin: OriginRevision;
}

/**
 * A control loop's write: only the named parts change, the generation never does. `vip` sets the typed column that no
 * two living rows share (docs/design.md §2.6); the address it replaces is added to `freed` by the store's clock. `null`
 * clears a part.
 */
export interface PatchChange {
  readonly type: 'patch';
  readonly id: Identity;
  readonly expect: number | 'any';
  readonly spec?: JsonObject;
  readonly status?: JsonObject;
  readonly vip?: string | null;
  readonly graceStartedAt?: number | null;
  /** The creation order becomes the later of this and the stored one; 0 is the latest. */
  readonly creationOrder?: number;
  /** As of PutChange. */
  readonly traceparent?: string | undefined;
}

/** Leaves a tombstone; frees the VIP. Deleting what is absent is refused as `absent`. */
export interface DeleteChange {
  readonly type: 'delete';
  readonly id: Identity;
  readonly expect: number | 'any';
  /** As of PutChange. */
  readonly audit?: AuditSource;
}

export type Change = PutChange | PatchChange | DeleteChange;

/** The leader's right to write: refused unless exactly this epoch and holder stand in the store (docs/design.md §3). */
export interface Fence {
  readonly epoch: number;
  readonly holder: string;
}

/** A zone session's right to write on the global: refused unless this session stands for the zone (docs/design.md §5). */
interface SessionFence {
  readonly zone: string;
  readonly session: number;
}

/** A fact beside the log: cursors, insights, marks. Raises no revision and wakes no watch (docs/design.md §2.8). */
export interface MetadataEntry {
  readonly area: string;
  readonly key: string;
  /** `null` removes the entry. */
  readonly value: JsonObject | null;
  /** Not written where the write counts a creation order that the origin does not know (`orderFrom`). */
  readonly unlessRaised?: true;
}

/**
 * Reads from which a decision was made, as of a revision: the resources of `kinds`, or all resources of a mesh. The
 * write is refused if another write created, changed or deleted one of them after the revision (docs/design.md §2.9).
 */
export interface ReadSet {
  readonly revision: number;
  readonly kinds?: readonly string[];
  readonly mesh?: string;
}

export interface WriteRequest {
  readonly changes: readonly Change[];
  /** `abort`: one refused change undoes all and throws; `skip`: the good ones are written. */
  readonly onRefusal: 'abort' | 'skip';
  readonly fence?: Fence;
  readonly session?: SessionFence;
  /** Refused as `outdated`, each change of it, unless this is unchanged; what a store writes in parts stops there. */
  readonly unchanged?: ReadSet;
  /** Written with the changes or not at all. */
  readonly metadata?: readonly MetadataEntry[];
  /**
   * With `skip`: is called with the results of each part that is durable, in the order of the changes, before `write`
   * resolves or throws. Which parts a store writes is its choice.
   */
  readonly onDurable?: (results: readonly ChangeResult[]) => void;
}

/**
 * Reason of a refusal: based on another revision; the resource exists; it does not exist; the copy is older than the
 * stored one of the same incarnation; the address is held by another resource, or freed by this very write; the read
 * set has changed (`unchanged`); or no store can hold the content (NUL, half a surrogate pair, nesting without end).
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
      /** Present if it differs from the one that a copy claims (`orderFrom`). */
      readonly creationOrder?: number;
    }
  | {
      readonly type: 'unchanged';
      readonly revision: number;
      readonly generation: number;
      readonly uid: string;
      /** As of `written`. */
      readonly creationOrder?: number;
    }
  | { readonly type: 'refused'; readonly refusal: Refusal; readonly detail: string };

export interface WriteResult {
  /** A reader that has seen this revision has seen the whole write; also when nothing changed. */
  readonly revision: number;
  readonly results: readonly ChangeResult[];
}

export type StoreChange =
  { readonly type: 'put'; readonly resource: Resource } | { readonly type: 'delete'; readonly tombstone: Tombstone };

/** Returns the living resource that a reader holds under an identity. */
export type ResourceLookup = (id: Identity) => Resource | undefined;

/** Changes up to `revision`: a reader that has applied them has seen everything ≤ it. The latest entry of each resource. */
export interface ChangeBatch {
  readonly revision: number;
  readonly changes: readonly StoreChange[];
  /** The store has purged the tombstones up to this revision; a reader may drop them too. */
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

/** A write came from a leader or session that is no longer current. Nothing was written; never retry with this fence. */
export class Fenced extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'Fenced';
  }
}

/**
 * The state of one control plane. Its guarantees are numbered in docs/design.md §2 and held by `storeConformance`:
 * optimistic concurrency, one revision order without holes, watch from a revision with deletions, atomic fenced
 * batches, no address twice. A write is durable when its promise resolves. Methods throw `Unavailable` when the
 * database is away; a write that threw `Unavailable` may or may not have happened.
 */
export interface ResourceStore {
  /** Incarnation and newest committed revision, read from the primary. */
  head(): Promise<StorePoint>;
  /** Deletions after this revision are still known: a reader at this revision or later can be sent all changes since. */
  compactionRevision(): Promise<number>;
  /**
   * The key by which this store recognises the resume points that it issued: random, made once, and part of every
   * backup, so that a restored store recognises those of after the backup too (docs/design.md §2.7). Never leaves the
   * process.
   */
  pointKey(): Promise<string>;
  /** The living resource, read from the primary. */
  get(id: Identity): Promise<Resource | undefined>;
  /** The whole state of one consistent moment. */
  snapshot(): Promise<Snapshot>;
  /** All changes in one transaction. Throws Conflict (abort), Fenced, Unavailable. An empty request only checks fences. */
  write(request: WriteRequest): Promise<WriteResult>;
  /**
   * Batches after `since`, in order, until `signal` aborts (then it returns). The watch
   * itself reconnects. Throws RelistRequired when `since` is too old or of another incarnation, also in the middle. `held`
   * looks up what the reader holds after all batches so far: a store need not read what it can derive from that.
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
  /**
   * Begins a new incarnation: every index and peer that remembers the old one reloads (docs/design.md §2.7). Revisions
   * continue, with a gap.
   */
  newIncarnation(): Promise<StorePoint>;
}
