import type { BatchOutcome, BatchRequest, BatchResult } from '@causeway/admission';
import type { Identity, JsonObject } from '@causeway/resources';
import type { SentBatch } from '../http/batch-body';
import { newInstance, toProblem } from '../http/problem.filter';

/** Query of a batch, without its documents. */
export type ApplyQuery = Required<Pick<BatchRequest, 'context' | 'atomic' | 'dryRun'>> & Pick<BatchRequest, 'mesh'>;

/** Returns one result of a batch as a line of JSON; each violation of a refused document has its position in the body. */
export function resultLine(result: BatchResult, { locate }: Pick<SentBatch, 'locate'>): JsonObject {
  const { index, outcome, position } = result;
  const place = { index, ...(position ? { line: position.line, column: position.column } : {}) };
  const identity = result.id ? identityFields(result.id) : {};
  if (result.outcome === 'skipped') return { ...place, ...identity, outcome };
  if (result.outcome !== 'refused') {
    const { revision, etag, warnings, diff } = result;
    return {
      ...place,
      ...identity,
      outcome,
      revision,
      ...(etag === undefined ? {} : { etag }),
      ...(warnings.length === 0 ? {} : { warnings }),
      ...(diff ? { diff: { before: diff.before ?? null, after: diff.after } } : {}),
    };
  }
  const { status, title, detail, invalid_parameters: violations } = toProblem(result.error, newInstance()).problem;
  const located = violations?.map(({ field, reason, rule }) => {
    return { field, reason, rule, ...locate(index, field) };
  });
  return {
    ...place,
    ...identity,
    outcome,
    status,
    title,
    detail,
    ...(located ? { invalid_parameters: located } : {}),
    ...(result.sameAs === undefined ? {} : { sameAs: result.sameAs }),
  };
}

function identityFields({ kind, mesh, zone, namespace, name }: Identity): JsonObject {
  const place = { mesh, zone, namespace };
  const given = Object.entries(place).filter(([, text]) => text !== '');
  return { type: kind, ...Object.fromEntries(given), name };
}

/** Returns the last line: the number of documents by outcome, and whether anything was written. */
export function summaryLine({ results, revision }: BatchOutcome, { atomic, dryRun }: ApplyQuery): JsonObject {
  const counts = { created: 0, updated: 0, unchanged: 0, refused: 0, skipped: 0 };
  for (const { outcome } of results) counts[outcome] += 1;
  const written = !dryRun && counts.created + counts.updated > 0;
  return { summary: { total: results.length, ...counts, atomic, dryRun, written, revision } };
}
