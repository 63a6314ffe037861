import type { Identity } from './identity';
import type { JsonObject } from './json';
import type { Labels } from './labels';

/** A revision of one store. Revisions compare only within one incarnation (docs/design.md §2.7). */
export interface StorePoint {
  readonly incarnation: string;
  readonly revision: number;
}

/** The last change of spec or labels at the origin: its revision there and when it was committed (ms since 1970). */
export interface OriginRevision extends StorePoint {
  readonly committedAt: number;
  /** The W3C traceparent of the change, where a sampled trace has it. It is no content: a change of it alone changes nothing. */
  readonly traceparent?: string;
}

/** An address that the row held, and when it was freed by the clock of Postgres (ms since 1970). */
export interface FreedAddress {
  readonly ip: string;
  readonly at: number;
}

/** One object of a kind as a store holds it. It is never changed in place. */
export interface Resource<Spec = JsonObject, Status = JsonObject> {
  readonly id: Identity;
  readonly uid: string;
  readonly labels: Labels;
  readonly spec: Spec;
  /** Absent until a controller writes it. */
  readonly status?: Status;
  /** +1 on each change of spec or labels by their owner; continues from the tombstone. */
  readonly generation: number;
  /** µs since 1970, unique in the store it was made in; 0 = unknown (made by Kuma), ranks last. */
  readonly creationOrder: number;
  /** ms since 1970. */
  readonly createdAt: number;
  readonly modifiedAt: number;
  /** The row's revision in the store that holds it: the optimistic lock. */
  readonly revision: number;
  /** Of a copy: as its origin sent it. Of a local resource: the revision of its last change of spec or labels. */
  readonly origin: OriginRevision;
  /** Addresses that this identity held before; kept through deletion and re-creation. */
  readonly freed: readonly FreedAddress[];
  /** Time at which the last Dataplane of a generated service was deleted (ms since 1970); server-owned. */
  readonly graceStartedAt?: number;
}

/** Facts that the store keeps of a deleted resource until its retention ends. */
export interface Tombstone {
  readonly id: Identity;
  readonly revision: number;
  readonly deletedAt: number;
  readonly freed: readonly FreedAddress[];
}
