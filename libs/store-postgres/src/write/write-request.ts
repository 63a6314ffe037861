import { describeIdentity, type JsonObject } from '@causeway/resources';
import { splitIntoBatches } from '@causeway/runtime';
import {
  Fenced,
  refusalDetail,
  refusedWrite,
  unstorable,
  type AuditSource,
  type Change,
  type ChangeResult,
  type CopyFacts,
  type MetadataEntry,
  type ReadSet,
  type WriteRequest,
} from '@causeway/store';
import { decodeRefusalFacts, type WireResult } from './write-decode';

/** More results than this are fetched after the commit: see `stash` in migrations/0001-store.sql. */
const MAX_INLINE_CHANGES = 500;

/** Maximum number of rows that the answer echoes: more rows cost less when the log is read. */
const ROWS_ECHOED = 50;

/** The one statement of a write. */
export const WRITE_STATEMENT = 'SELECT * FROM causeway_write($1, $2, $3, $4, $5, $6, $7, $8, $9)';

/** The one statement of a write that leaves entries in the audit log. */
const AUDITED_STATEMENT = 'SELECT * FROM causeway_write_audited($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)';

/** The one statement of a write with a read set that must be unchanged. */
const UNCHANGED_STATEMENT =
  'SELECT * FROM causeway_write_unchanged($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)';

/** The statement and its values. */
export interface WriteCall {
  readonly name: string;
  readonly text: string;
  readonly values: readonly unknown[];
  readonly stash: boolean;
  /** Bound after `values`: the revision of a later batch is known only when the batch before it is written. */
  readonly unchanged?: ReadSet;
  /** Results that need no database, by index in the request. */
  readonly known: ReadonlyMap<number, ChangeResult>;
}

/** Returns the arguments of `causeway_write`. Throws RefusedWrite if all changes must be written and one is unstorable. */
export function writeCall(request: WriteRequest): WriteCall {
  const known = unstorableChanges(request.changes);
  if (request.onRefusal === 'abort' && known.size > 0) throw toRefusal(request.changes, known);
  const stash = request.changes.length - known.size > MAX_INLINE_CHANGES;
  const sources = new AuditSources();
  const values = [
    JSON.stringify(toChanges(request.changes, known, sources)),
    request.onRefusal === 'abort',
    request.fence?.epoch ?? null,
    request.fence?.holder ?? null,
    request.session?.zone ?? null,
    request.session?.session ?? null,
    encodeEntries(request.metadata ?? []),
    stash,
    echoMode(request.changes),
  ];
  const { unchanged } = request;
  if (sources.list.length === 0 && !unchanged) return { name: 'write', text: WRITE_STATEMENT, values, stash, known };
  const audited = [...values, JSON.stringify(sources.list)];
  if (unchanged)
    return { name: 'write-unchanged', text: UNCHANGED_STATEMENT, values: audited, unchanged, stash, known };
  return { name: 'write-audited', text: AUDITED_STATEMENT, values: audited, stash, known };
}

/** Returns all values of the statement; `before` is the revision of the previous batch, if there is one. */
export function bindValues({ values, unchanged }: WriteCall, before: number | undefined): readonly unknown[] {
  if (!unchanged) return values;
  // The previous batch has verified that only this write changed anything until then.
  return [...values, before ?? unchanged.revision, unchanged.kinds ?? [], unchanged.mesh ?? null];
}

/** The sources of the changes of one write, each once. */
class AuditSources {
  readonly list: AuditSource[] = [];
  private readonly places = new Map<AuditSource, number>();

  /** Returns the index of a source in the list; undefined for a change without one. */
  findIndex(source: AuditSource | undefined): number | undefined {
    if (source === undefined) return undefined;
    const known = this.places.get(source);
    if (known !== undefined) return known;
    this.places.set(source, this.list.length);
    return this.list.push(source) - 1;
  }
}

/** Returns the argument `tell_rows` of `causeway_write`: null if the patches themselves describe the result, else whether rows are echoed. */
function echoMode(changes: readonly Change[]): boolean | null {
  const arePatches = changes.every((change) => change.type === 'patch' && change.expect !== 'any');
  return arePatches ? null : changes.length <= ROWS_ECHOED;
}

/** Returns the results of a request in its order; throws RefusedWrite if all or nothing was requested. */
export function decodeResults(
  request: WriteRequest,
  call: WriteCall,
  wire: readonly WireResult[],
): readonly ChangeResult[] {
  const results = new Map(call.known);
  for (const entry of wire) {
    const change = request.changes[entry[0]];
    if (change) results.set(entry[0], readResult(change, entry));
  }
  const refused = [...results].some(([, result]) => result.type === 'refused');
  if (refused && request.onRefusal === 'abort') throw toRefusal(request.changes, results);
  return request.changes.map((change, at) => {
    const result = results.get(at);
    if (!result) throw new Error(`the database returned no result for ${describeIdentity(change.id)}`);
    return result;
  });
}

/** Returns the error for a fence that did not hold. */
export function fencedError(fenced: string, { fence, session }: WriteRequest): Fenced {
  return fenced === 'leader'
    ? new Fenced(`epoch ${fence?.epoch ?? 0} of ${fence?.holder ?? ''} has ended`)
    : new Fenced(`session ${session?.session ?? 0} of zone ${session?.zone ?? ''} has ended`);
}

function toRefusal(changes: readonly Change[], results: ReadonlyMap<number, ChangeResult>): Error {
  const refused = [...results].flatMap(([at, result]) => (result.type === 'refused' ? [{ at, result }] : []));
  return refusedWrite(changes, refused);
}

function unstorableChanges(changes: readonly Change[]): Map<number, ChangeResult> {
  const found = new Map<number, ChangeResult>();
  changes.forEach((change, at) => {
    const reason = unstorable(change);
    if (reason === undefined) return;
    found.set(at, { type: 'refused', refusal: 'unstorable', detail: refusalDetail(change, 'unstorable', { reason }) });
  });
  return found;
}

function toChanges(
  changes: readonly Change[],
  left: ReadonlyMap<number, ChangeResult>,
  sources: AuditSources,
): readonly JsonObject[] {
  return changes.flatMap((change, at) => (left.has(at) ? [] : [changeFields(change, at, sources)]));
}

/** Encodes a change. Called for every change of every write, so it makes no intermediate copies; undefined fields are not sent. */
function changeFields(change: Change, at: number, sources: AuditSources): JsonObject {
  const { type, id, expect } = change;
  const { kind, mesh, zone, namespace, name } = id;
  const absent = expect === 'absent' ? true : undefined;
  const revision = typeof expect === 'number' ? expect : undefined;
  switch (type) {
    case 'put': {
      const { labels, spec, status } = change;
      const by = sources.findIndex(change.audit);
      const place = { at, by, type, kind, mesh, zone, namespace, name, absent, expect: revision };
      const { traceparent, orderFrom, initial } = change;
      const [initialStatus, vip] = [initial?.status, initial?.vip];
      const asked = Object.assign(place, { labels, spec, status, initialStatus, vip, traceparent, orderFrom });
      return change.copy ? { ...asked, ...copyFields(change.copy) } : asked;
    }
    case 'patch': {
      const { spec, status, vip, graceStartedAt } = change;
      const [setsVip, setsGrace] = [vip !== undefined || undefined, graceStartedAt !== undefined || undefined];
      const place = { at, type, kind, mesh, zone, namespace, name, expect: revision };
      const { traceparent, creationOrder } = change;
      const named = { spec, status, setsVip, vip, setsGrace, graceStartedAt, traceparent, creationOrder };
      return Object.assign(place, named);
    }
    case 'delete':
      return { at, by: sources.findIndex(change.audit), type, kind, mesh, zone, namespace, name, expect: revision };
  }
}

function copyFields({ uid, generation, creationOrder, createdAt, origin }: CopyFacts): JsonObject {
  return {
    uid,
    generation,
    creationOrder,
    createdAt,
    originIncarnation: origin.incarnation,
    originRevision: origin.revision,
    originCommittedAt: origin.committedAt,
    traceparent: origin.traceparent,
  };
}

/** Encodes metadata entries; of two entries with one key the later one is written. */
function encodeEntries(entries: readonly MetadataEntry[]): string | null {
  if (entries.length === 0) return null;
  const latest = new Map(entries.map((entry) => [JSON.stringify([entry.area, entry.key]), entry]));
  return JSON.stringify([...latest.values()]);
}

function readResult(change: Change, entry: WireResult): ChangeResult {
  if (entry[1] === 'created' || entry[1] === 'written') {
    const [, outcome, revision, generation, uid, order] = entry;
    return { type: 'written', created: outcome === 'created', revision, generation, uid, ...countedAs(order) };
  }
  if (entry[1] === 'unchanged') {
    const [, , revision, generation, uid, order] = entry;
    return { type: 'unchanged', revision, generation, uid, ...countedAs(order) };
  }
  const refusal = entry[1];
  return { type: 'refused', refusal, detail: refusalDetail(change, refusal, decodeRefusalFacts(entry)) };
}

/** Splits a request into requests of one statement each; the metadata goes with the last (docs/design.md §2.4). */
export function splitWrite(request: WriteRequest, size: number): readonly WriteRequest[] {
  const { changes, metadata: entries, ...rest } = request;
  if (request.onRefusal === 'abort' || changes.length <= size) return [request];
  const batches = [...splitIntoBatches(changes, size)];
  return batches.map((batch, n) => ({
    ...rest,
    changes: batch,
    ...(entries && n === batches.length - 1 ? { metadata: entries } : {}),
  }));
}

function countedAs(creationOrder: number | undefined): { readonly creationOrder?: number } {
  return creationOrder === undefined ? {} : { creationOrder };
}
