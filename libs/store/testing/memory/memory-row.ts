import type { FreedAddress, Identity, JsonObject, Labels, Resource, Tombstone } from '@causeway/resources';

/** A row of the memory disk: a living resource, or a tombstone if `deletedAt` is set. */
export interface MemoryRow {
  readonly id: Identity;
  readonly uid: string;
  readonly labels: Labels;
  readonly spec: JsonObject;
  readonly status: JsonObject | undefined;
  readonly generation: number;
  readonly creationOrder: number;
  readonly createdAt: number;
  readonly modifiedAt: number;
  readonly revision: number;
  readonly origin: RowOrigin;
  readonly vip: string | undefined;
  readonly freed: readonly FreedAddress[];
  readonly graceStartedAt: number | undefined;
  readonly deletedAt: number | undefined;
}

/** Without an incarnation: made here, in the current incarnation of this store. */
export interface RowOrigin {
  readonly incarnation: string | undefined;
  readonly revision: number;
  readonly committedAt: number;
  readonly traceparent?: string;
}

/** Returns the resource of a living row, in the given incarnation of the store. */
export function toResource(row: MemoryRow, incarnation: string): Resource {
  return {
    id: row.id,
    uid: row.uid,
    labels: row.labels,
    spec: row.spec,
    ...(row.status === undefined ? {} : { status: row.status }),
    generation: row.generation,
    creationOrder: row.creationOrder,
    createdAt: row.createdAt,
    modifiedAt: row.modifiedAt,
    revision: row.revision,
    origin: { ...row.origin, incarnation: row.origin.incarnation ?? incarnation },
    freed: row.freed,
    ...(row.graceStartedAt === undefined ? {} : { graceStartedAt: row.graceStartedAt }),
  };
}

/** Returns the tombstone of a deleted row. */
export function toTombstone(row: MemoryRow): Tombstone {
  return { id: row.id, revision: row.revision, deletedAt: row.deletedAt ?? 0, freed: row.freed };
}

/** Returns `freed` with the address that a row releases; each address appears once. */
export function withFreed(row: MemoryRow, now: number, next: string | undefined): readonly FreedAddress[] {
  if (row.vip === next) return row.freed;
  const kept = row.freed.filter((entry) => entry.ip !== next && entry.ip !== row.vip);
  return row.vip === undefined ? kept : [...kept, { ip: row.vip, at: now }];
}
