import { Unparsable } from '@causeway/yaml';
import { type BatchResult } from '@causeway/admission';
import { ApplyOutcome, ApplyResult, type RpcStatus } from '@causeway/proto-gen';
import { jsonShapeViolation } from '@causeway/resources';
import { identityMessage } from './messages';

const OUTCOMES = {
  created: ApplyOutcome.APPLY_OUTCOME_CREATED,
  updated: ApplyOutcome.APPLY_OUTCOME_UPDATED,
  unchanged: ApplyOutcome.APPLY_OUTCOME_UNCHANGED,
  refused: ApplyOutcome.APPLY_OUTCOME_REFUSED,
  skipped: ApplyOutcome.APPLY_OUTCOME_SKIPPED,
} as const;

/** Returns a result as a message. */
export function applyResultMessage(result: BatchResult, errorOf: (error: unknown) => RpcStatus): ApplyResult {
  const { index, outcome, id } = result;
  const base = { index, outcome: OUTCOMES[outcome], ...(id ? { id: identityMessage(id) } : {}) };
  switch (result.outcome) {
    case 'refused':
      return ApplyResult.fromPartial({
        ...base,
        error: errorOf(result.error),
        ...(result.sameAs === undefined ? {} : { sameAs: result.sameAs }),
      });
    case 'skipped':
      return ApplyResult.fromPartial(base);
    default: {
      const { revision, etag = '', warnings, diff } = result;
      const beforeJson = diff?.before ? JSON.stringify(diff.before) : '';
      const afterJson = diff ? JSON.stringify(diff.after) : '';
      return ApplyResult.fromPartial({ ...base, revision, etag, warnings: [...warnings], beforeJson, afterJson });
    }
  }
}

/** Parses a document. Throws Unparsable, also if it has more keys and values than any kind allows. */
export function parseDocument(json: string): unknown {
  const value = toJson(json);
  const violation = jsonShapeViolation(value);
  if (violation !== undefined) throw new Unparsable(violation);
  return value;
}

function toJson(json: string): unknown {
  try {
    const value: unknown = JSON.parse(json);
    return value;
  } catch (error) {
    const at = error instanceof Error ? /position (\d+)/.exec(error.message)?.[1] : undefined;
    const before = (at === undefined ? json : json.slice(0, Number(at))).split('\n');
    const position = { line: before.length, column: (before.at(-1) ?? '').length + 1 };
    throw new Unparsable('this is not JSON', position);
  }
}
