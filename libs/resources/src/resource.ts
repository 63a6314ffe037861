import type { Identity } from './identity';
import type { JsonObject } from './json';
import type { Labels } from './labels';

/** A revision of one store. Revisions compare only within one incarnation (docs/design.md §2.7). */
export interface StorePoint {
  readonly incarnation: string;
  readonly revision: number;
}

/** Last change of spec or labels at the origin: its revision there and its commit time (ms since 1970). */
export interface OriginRevision extends StorePoint {
  readonly committedAt: number;
  /** W3C traceparent of the change, if it belongs to a sampled trace. Not part of the content: a resource that differs only in it is unchanged. */
  readonly traceparent?: string;
}

/** An address that the resource held, and when it was freed by the clock of Postgres (ms since 1970). */
export interface FreedAddress {
  readonly ip: string;
  readonly at: number;
}

/** A stored resource. It is never changed in place. */
export interface Resource<Spec = JsonObject, Status = JsonObject> {
  readonly id: Identity;
  readonly uid: string;
  readonly labels: Labels;
  readonly spec: Spec;
  /** Absent until a controller writes it. */
  readonly status?: Status;
  /** Incremented by each change of spec or labels by their owner; continues from the tombstone. */
  readonly generation: number;
  /** µs since 1970, unique in the store where it was created; 0 = unknown (created by Kuma), ranks last. */
  readonly creationOrder: number;
  /** Time of creation, ms since 1970. */
  readonly createdAt: number;
  readonly modifiedAt: number;
  /** Revision of the row in this store, for optimistic locking. */
  readonly revision: number;
  /** For a copy: the revision that its origin sent. For a local resource: the revision of its last change of spec or labels. */
  readonly origin: OriginRevision;
  /** Addresses that this identity held before; kept through deletion and re-creation. */
  readonly freed: readonly FreedAddress[];
  /** Time at which the last Dataplane of a generated service was deleted (ms since 1970); server-owned. */
  readonly graceStartedAt?: number;
}

/** Facts about a deleted resource that the store keeps until its retention ends. */
export interface Tombstone {
  readonly id: Identity;
  readonly revision: number;
  readonly deletedAt: number;
  readonly freed: readonly FreedAddress[];
}
