import type { Condition } from '@causeway/resources';
import { compileNode, type CompiledNode } from '../compile/compile-node';
import { compileRouter } from '../compile/compile-router';
import type { VirtualNodeSpec } from '../model';
import { describe } from '../names';
import type { SourceRef, Row, SourceIndex } from './sources';

/** True on nodes that select the same Dataplane; the message names the Dataplanes (T003-33). */
export const MEMBERSHIP_CONFLICT = 'causeway.io/MembershipConflict';

/** Reason why a source is not compiled, for the condition Accepted. */
export interface CompileRefusal {
  readonly reason: 'AwsNameConflict' | 'ReferenceNotInMesh' | 'UnsupportedValue';
  readonly message: string;
}

const nodes = new WeakMap<Row, CompiledNode>();

/** Returns a compiled node, cached until it changes. */
export function getCompiledNode(row: Row, spec: VirtualNodeSpec): CompiledNode {
  const known = nodes.get(row) ?? compileNode(row.source.id, spec);
  nodes.set(row, known);
  return known;
}

/** Returns why `row` is not compiled; undefined if it is. Linear in its references and in its rivals for the name. */
export function findRefusal(row: Row, sources: SourceIndex): CompileRefusal | undefined {
  const { source, awsName } = row;
  const holder = sources.holder(row);
  if (holder !== row) {
    const who = describe(source.kind, holder.source.id);
    const where = holder.source.id.zone === source.id.zone ? '' : whereMade(holder.source.id.zone);
    return { reason: 'AwsNameConflict', message: `awsName "${awsName}" is held by ${who}${where}` };
  }
  const [violation] = checkRow(row);
  if (violation) return { reason: 'UnsupportedValue', message: `${violation.field} ${violation.reason}` };
  for (const ref of row.refs) {
    const found = sources.find(source, ref);
    if (!found || 'key' in found) continue;
    const kind = ref.kind.charAt(0).toLowerCase() + ref.kind.slice(1);
    const message = `${kind} ${ref.namespace}/${ref.name} didn't belong to mesh ${source.id.mesh}`;
    return { reason: 'ReferenceNotInMesh', message };
  }
  return undefined;
}

const whereMade = (zone: string): string => (zone === '' ? ' of the global' : ` of zone ${zone}`);

function checkRow(row: Row) {
  const { source } = row;
  if (source.kind === 'VirtualNode') return getCompiledNode(row, source.spec).violations;
  return source.kind === 'VirtualRouter' ? compileRouter(source.spec).violations : [];
}

/** Resolves a reference; `why` is set if the target is missing or not compiled (T003-13). */
export function resolve(
  row: Row,
  ref: SourceRef,
  sources: SourceIndex,
): { readonly ok: true; readonly row: Row } | { readonly ok: false; readonly why: string } {
  const found = sources.find(row.source, ref);
  if (!found || !('key' in found)) return { ok: false, why: `there is no ${describe(ref.kind, ref)}` };
  const refusal = findRefusal(found, sources);
  return refusal
    ? { ok: false, why: `${describe(ref.kind, ref)} is not accepted: ${refusal.reason}` }
    : { ok: true, row: found };
}

/** Returns the conditions of a source: whether it is compiled, and whether its references resolve. */
export function evaluateConditions(row: Row, sources: SourceIndex): readonly Condition[] {
  const { generation: observedGeneration } = row.source;
  const refusal = findRefusal(row, sources);
  const accepted: Condition = refusal
    ? { type: 'Accepted', status: 'False', ...refusal, observedGeneration }
    : { type: 'Accepted', status: 'True', reason: 'Accepted', message: '', observedGeneration };
  const unresolved = row.refs.map((ref) => resolve(row, ref, sources)).flatMap((one) => (one.ok ? [] : [one.why]));
  const resolved: Condition = {
    type: 'ResolvedRefs',
    ...(unresolved.length === 0
      ? { status: 'True', reason: 'ResolvedRefs', message: 'all references resolve' }
      : { status: 'False', reason: 'BackendNotFound', message: formatList(unresolved) }),
    observedGeneration,
  };
  return [accepted, resolved];
}

const MAX_NAMED = 5;

/** Formats a list: its first items, and the number of further ones. */
export function formatList(all: readonly string[]): string {
  const distinct = [...new Set(all)];
  const more = distinct.length - MAX_NAMED;
  return distinct.slice(0, MAX_NAMED).join(', ') + (more > 0 ? ` and ${more} more` : '');
}
