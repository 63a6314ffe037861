import { jsonEqual, laterOrder, type Identity } from '@causeway/resources';
import type {
  Change,
  CopyFacts,
  DeleteChange,
  Expectation,
  PatchChange,
  PutChange,
  Refusal,
} from '../../src/resource-store';
import { refusalDetail, type RefusalFacts } from '../../src/refused-write';
import { unstorable } from '../../src/storable';
import { withFreed, type MemoryRow, type RowOrigin } from './memory-row';

/** Inputs of a decision, besides the stored row. */
export interface DecisionContext {
  readonly now: number;
  readonly revision: number;
  readonly nextCreationOrder: () => number;
  /** Returns the counted creation order of a copy, given the row or tombstone with its identity. */
  readonly computeOrder: (change: CopyChange, row: MemoryRow | undefined) => number;
  readonly newUid: () => string;
  /** Returns another living row that holds an address. */
  readonly findHolder: (vip: string, change: Change) => Identity | undefined;
}

/** A put of a copy. */
export type CopyChange = PutChange & { readonly copy: CopyFacts };

export type WriteDecision =
  | { readonly type: 'write'; readonly row: MemoryRow; readonly created: boolean }
  | { readonly type: 'unchanged'; readonly row: MemoryRow }
  | { readonly type: 'refused'; readonly refusal: Refusal; readonly detail: string };

/** Returns the effect of one change on the row of its identity, living, dead or absent. */
export function decideChange(change: Change, row: MemoryRow | undefined, context: DecisionContext): WriteDecision {
  const reason = unstorable(change);
  if (reason !== undefined) return refuse(change, 'unstorable', { reason });
  switch (change.type) {
    case 'put':
      return decidePut(counted(change, row, context), row, context);
    case 'patch':
      return decidePatch(change, row, context);
    case 'delete':
      return decideDelete(change, row, context);
  }
}

/** Returns the change with the counted creation order. */
function counted(change: PutChange, row: MemoryRow | undefined, context: DecisionContext): PutChange {
  const { copy } = change;
  if (!copy) return change;
  const creationOrder = context.computeOrder({ ...change, copy }, row);
  if (creationOrder === copy.creationOrder) return change;
  const createdAt = creationOrder === 0 ? copy.createdAt : Math.floor(creationOrder / 1_000);
  return { ...change, copy: { ...copy, creationOrder, createdAt } };
}

function decidePut(change: PutChange, row: MemoryRow | undefined, context: DecisionContext): WriteDecision {
  const living = row?.deletedAt === undefined ? row : undefined;
  const refusal = unmet(change.expect, living);
  if (refusal) return refuse(change, refusal, found(living));
  if (isOlder(change, row)) return refuse(change, 'older', { originRevision: row?.origin.revision ?? 0 });
  if (!living) return { type: 'write', created: true, row: createdRow(change, row, context) };
  const sameOwned = jsonEqual(living.labels, change.labels) && jsonEqual(living.spec, change.spec);
  const sameStatus = change.status === undefined || jsonEqual(living.status, change.status);
  if (sameOwned && sameStatus && sameFacts(living, change.copy)) return { type: 'unchanged', row: living };
  const local = sameOwned
    ? {}
    : {
        generation: living.generation + 1,
        origin: originOfChange(change, context),
      };
  return {
    type: 'write',
    created: false,
    row: {
      ...living,
      labels: change.labels,
      spec: change.spec,
      status: change.status ?? living.status,
      ...(change.copy ? pickFacts(change.copy) : local),
      revision: context.revision,
      modifiedAt: context.now,
    },
  };
}

function createdRow(change: PutChange, stone: MemoryRow | undefined, context: DecisionContext): MemoryRow {
  const { now, revision } = context;
  const { initial } = change;
  const isFree = initial?.vip === undefined || context.findHolder(initial.vip, change) === undefined;
  const { status = change.status, vip } = (isFree ? initial : undefined) ?? {};
  const facts = change.copy
    ? pickFacts(change.copy)
    : {
        uid: context.newUid(),
        generation: (stone?.generation ?? 0) + 1,
        creationOrder: context.nextCreationOrder(),
        createdAt: now,
        origin: originOfChange(change, context),
      };
  return {
    id: change.id,
    labels: change.labels,
    spec: change.spec,
    status,
    ...facts,
    modifiedAt: now,
    revision,
    vip,
    freed: stone ? withFreed(stone, now, vip) : [],
    graceStartedAt: undefined,
    deletedAt: undefined,
  };
}

function decidePatch(change: PatchChange, row: MemoryRow | undefined, context: DecisionContext): WriteDecision {
  if (row?.deletedAt !== undefined || !row) return refuse(change, 'absent', {});
  if (unmet(change.expect, row)) return refuse(change, 'conflict', found(row));
  const next = patchedRow(change, row, context);
  if (!next) return { type: 'unchanged', row };
  const holder = next.vip === row.vip || next.vip === undefined ? undefined : context.findHolder(next.vip, change);
  if (holder) return refuse(change, 'vip-taken', { holder });
  return { type: 'write', created: false, row: next };
}

function patchedRow(change: PatchChange, row: MemoryRow, context: DecisionContext): MemoryRow | undefined {
  const specChanges = change.spec !== undefined && !jsonEqual(change.spec, row.spec);
  const statusChanges = change.status !== undefined && !jsonEqual(change.status, row.status);
  const vip = change.vip === undefined ? row.vip : (change.vip ?? undefined);
  const graceStartedAt =
    change.graceStartedAt === undefined ? row.graceStartedAt : (change.graceStartedAt ?? undefined);
  const creationOrder =
    change.creationOrder === undefined ? row.creationOrder : laterOrder(row.creationOrder, change.creationOrder);
  const isSame = vip === row.vip && graceStartedAt === row.graceStartedAt && creationOrder === row.creationOrder;
  if (!specChanges && !statusChanges && isSame) return undefined;
  const moved = specChanges && row.origin.incarnation === undefined;
  return {
    ...row,
    spec: change.spec ?? row.spec,
    status: change.status ?? row.status,
    vip,
    graceStartedAt,
    creationOrder,
    freed: withFreed(row, context.now, vip),
    origin: moved ? originOfChange(change, context) : row.origin,
    revision: context.revision,
    modifiedAt: context.now,
  };
}

function decideDelete(change: DeleteChange, row: MemoryRow | undefined, context: DecisionContext): WriteDecision {
  if (row?.deletedAt !== undefined || !row) return refuse(change, 'absent', {});
  if (unmet(change.expect, row)) return refuse(change, 'conflict', found(row));
  return {
    type: 'write',
    created: false,
    row: {
      ...row,
      labels: {},
      spec: {},
      status: undefined,
      vip: undefined,
      graceStartedAt: undefined,
      freed: withFreed(row, context.now, undefined),
      deletedAt: context.now,
      modifiedAt: context.now,
      revision: context.revision,
    },
  };
}

function unmet(expect: Expectation, living: MemoryRow | undefined): Refusal | undefined {
  if (expect === 'any') return undefined;
  if (expect === 'absent') return living ? 'exists' : undefined;
  return living?.revision === expect ? undefined : 'conflict';
}

function found(living: MemoryRow | undefined): RefusalFacts {
  return living ? { revision: living.revision } : {};
}

/** A tombstone keeps the revision of its origin, so that a delayed copy does not restore a deleted resource (I7). */
function isOlder(change: PutChange, row: MemoryRow | undefined): boolean {
  const { copy } = change;
  return (
    !!copy && !!row && row.origin.incarnation === copy.origin.incarnation && copy.origin.revision < row.origin.revision
  );
}

function originOfChange({ traceparent }: PutChange | PatchChange, { revision, now }: DecisionContext): RowOrigin {
  const origin = { incarnation: undefined, revision, committedAt: now };
  return traceparent === undefined ? origin : { ...origin, traceparent };
}

/** Copies only the facts: callers may pass an object with more fields. */
function pickFacts({ uid, generation, creationOrder, createdAt, origin }: CopyFacts): CopyFacts {
  return { uid, generation, creationOrder, createdAt, origin };
}

function sameFacts(row: MemoryRow, copy: CopyFacts | undefined): boolean {
  if (!copy) return true;
  return (
    row.uid === copy.uid &&
    row.generation === copy.generation &&
    row.creationOrder === copy.creationOrder &&
    row.createdAt === copy.createdAt &&
    sameOrigin(row.origin, copy.origin)
  );
}

function sameOrigin(a: RowOrigin, b: RowOrigin): boolean {
  return a.incarnation === b.incarnation && a.revision === b.revision && a.committedAt === b.committedAt;
}

function refuse(change: Change, refusal: Refusal, facts: RefusalFacts): WriteDecision {
  return { type: 'refused', refusal, detail: refusalDetail(change, refusal, facts) };
}
