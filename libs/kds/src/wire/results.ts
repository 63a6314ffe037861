import { ResourceOutcome, ResourceResult, type Any } from '@causeway/proto-gen';
import type { WireKey } from './wire-resource';

const RESULT_URL = 'type.googleapis.com/causeway.v1.ResourceResult';

/** What a peer did with one resource it was sent (design.md §5 cw-result). All three count as handled. */
export interface AppliedResult extends WireKey {
  readonly kind: string;
  /** Version of the resource spoken of; empty for a removal. */
  readonly version: string;
  readonly outcome: 'applied' | 'rejected' | 'superseded';
  /** For the operator; empty unless rejected. */
  readonly reason: string;
}

const OUTCOMES = {
  applied: ResourceOutcome.RESOURCE_OUTCOME_APPLIED,
  rejected: ResourceOutcome.RESOURCE_OUTCOME_REJECTED,
  superseded: ResourceOutcome.RESOURCE_OUTCOME_SUPERSEDED,
} as const;

/** One entry of `error_detail.details`. */
export function encodeResult(result: AppliedResult): Any {
  const value = ResourceResult.encode({ ...result, outcome: OUTCOMES[result.outcome] }).finish();
  return { typeUrl: RESULT_URL, value: Buffer.from(value) };
}

/** The result in a detail; none in details of other kinds and in outcomes we do not know. */
export function decodeResult({ typeUrl, value }: Any): AppliedResult | undefined {
  if (typeUrl !== RESULT_URL) return undefined;
  const { kind, name, mesh, version, outcome, reason } = ResourceResult.decode(value);
  const read = outcomeOf(outcome);
  return read === undefined ? undefined : { kind, name, mesh, version, outcome: read, reason };
}

function outcomeOf(outcome: ResourceOutcome): AppliedResult['outcome'] | undefined {
  switch (outcome) {
    case ResourceOutcome.RESOURCE_OUTCOME_APPLIED:
      return 'applied';
    case ResourceOutcome.RESOURCE_OUTCOME_REJECTED:
      return 'rejected';
    case ResourceOutcome.RESOURCE_OUTCOME_SUPERSEDED:
      return 'superseded';
    default:
      return undefined;
  }
}
