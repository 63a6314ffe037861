import type { PolicyEvaluation, TargetRef } from '@causeway/policies';
import { withCondition, withoutConditions, type Condition, type JsonObject, type Resource } from '@causeway/resources';
import type { PatchChange } from '@causeway/store';
import { UNSUPPORTED_BY_KUMA } from '../routes/programmed';
import { withEntries, withShortMessage, type EntryList, type StatusWriter } from '../conditions/controller-entries';

/** One entry for each targetRef; at most 16 of all controllers together (T004-44). */
const ANCESTORS: EntryList = { field: 'ancestors', refField: 'ancestorRef', most: 16 };

/** The parts of the status of a policy; conditions of other types stay unchanged. */
export interface WantedStatus {
  readonly evaluation: PolicyEvaluation;
  readonly conditions: readonly Condition[];
  /** The condition about zones of Kuma; `absent` if there is none, undefined if the written one stays. */
  readonly unsupportedByKuma?: Condition | 'absent' | undefined;
}

/** Returns the patch that updates the status of a policy; undefined if it is up to date. */
export function planPolicyStatus(
  { id, revision, generation, status: before = {} }: Resource,
  { evaluation, conditions, unsupportedByKuma }: WantedStatus,
  writer: StatusWriter,
): PatchChange | undefined {
  const entries = evaluation.ancestors.map(({ ref, refused }) => ({
    ref: refJson(ref),
    conditions: [ancestorCondition(evaluation, refused, generation)],
  }));
  const listed = withEntries(before, ANCESTORS, entries, writer);
  const isAbsent = unsupportedByKuma === 'absent';
  const known = isAbsent ? withoutConditions(listed, [UNSUPPORTED_BY_KUMA]) : listed;
  const all = unsupportedByKuma && !isAbsent ? [...conditions, unsupportedByKuma] : conditions;
  const status = all.reduce((next, one) => withCondition(next, withShortMessage(one), writer.now), known);
  return status === before ? undefined : { type: 'patch', id, expect: revision, status };
}

function ancestorCondition(
  { policy: { violation } }: PolicyEvaluation,
  refused: PolicyEvaluation['ancestors'][number]['refused'],
  observedGeneration: number,
): Condition {
  const of = { type: 'Accepted', observedGeneration };
  if (violation)
    return {
      ...of,
      status: 'False',
      reason: 'Invalid',
      message: `${violation.field} ${violation.reason} (${violation.rule})`,
    };
  return refused
    ? { ...of, status: 'False', ...refused }
    : { ...of, status: 'True', reason: 'Accepted', message: 'the policy is attached' };
}

/** Returns a reference in the form of the status, with all fields that a user may omit. */
function refJson({ group, kind, namespace, name, selector, sectionName }: TargetRef): JsonObject {
  return {
    group,
    kind,
    ...(namespace !== '' && { namespace }),
    ...(name !== undefined && { name }),
    ...(selector && { selector: selectorJson(selector) }),
    ...(sectionName !== undefined && { sectionName }),
  };
}

function selectorJson({ matchLabels, matchExpressions }: NonNullable<TargetRef['selector']>): JsonObject {
  return {
    ...(matchLabels && { matchLabels: { ...matchLabels } }),
    ...(matchExpressions && { matchExpressions: matchExpressions.map((one) => ({ ...one })) }),
  };
}
