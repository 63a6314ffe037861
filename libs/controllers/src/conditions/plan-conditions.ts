import {
  FieldPath,
  isMadeHere,
  withCondition,
  withoutConditions,
  type Condition,
  type ControlPlane,
  type Kind,
  type Resource,
  type Violation,
  type ViolationRule,
} from '@causeway/resources';
import type { PatchChange } from '@causeway/store';
import { SyncCondition, type LostPolicy, type LostState } from '@causeway/sync';

/** What conditions of a resource depend on beside itself. */
export interface ConditionInputs {
  readonly cp: ControlPlane;
  hasMesh(mesh: string): boolean;
  lostState(zone: string): LostState | undefined;
  /** Why Kuma zones cannot be told of a resource; undefined where they can be. */
  unsupportedByKuma(resource: Resource, kind: Kind): string | undefined;
}

/** The conditions that are written by these rules; those of other writers are left alone. */
const TYPES: readonly string[] = [
  SyncCondition.originLost,
  SyncCondition.meshMissing,
  SyncCondition.rulesBroken,
  SyncCondition.unsupportedByKuma,
];

const LOST_REASONS: Readonly<Record<LostPolicy, string>> = {
  keep: 'Kept',
  depreferred: 'Depreferred',
  withdraw: 'Withdrawn',
};

/** What to write so that a resource says what sync knows of it; undefined when it does. */
export function planConditions(
  resource: Resource,
  kind: Kind,
  around: ConditionInputs,
  now: number,
): PatchChange | undefined {
  const wanted = wantedConditions(resource, kind, around);
  const before = resource.status ?? {};
  const over = TYPES.filter((type) => !wanted.some((condition) => condition.type === type));
  const status = wanted.reduce(
    (said, condition) => withCondition(said, condition, now),
    withoutConditions(before, over),
  );
  return status === before ? undefined : { type: 'patch', id: resource.id, expect: resource.revision, status };
}

function wantedConditions(resource: Resource, kind: Kind, around: ConditionInputs): readonly Condition[] {
  const isCopy = !isMadeHere(resource, around.cp);
  return [
    ...(isCopy ? originLost(resource, around) : []),
    ...meshMissing(resource, kind, around),
    ...(isCopy ? rulesBroken(resource, kind) : []),
    ...unsupportedCondition(resource, around.unsupportedByKuma(resource, kind)),
  ];
}

function originLost({ id: { zone }, generation }: Resource, around: ConditionInputs): readonly Condition[] {
  const lost = zone === '' ? undefined : around.lostState(zone);
  if (!lost) return [];
  const message = `zone "${zone}" has had no session with the global since ${lost.since}; policy ${lost.policy}`;
  return [standing(SyncCondition.originLost, LOST_REASONS[lost.policy], message, generation)];
}

function meshMissing(
  { id: { mesh }, generation }: Resource,
  kind: Kind,
  around: ConditionInputs,
): readonly Condition[] {
  if (kind.scope === 'global' || around.hasMesh(mesh)) return [];
  const message = `there is no Mesh "${mesh}": no other zone is told of this and it gets no hostname`;
  return [standing(SyncCondition.meshMissing, 'NoSuchMesh', message, generation)];
}

function rulesBroken(resource: Resource, kind: Kind): readonly Condition[] {
  const message = brokenRules(kind, resource);
  return message === undefined ? [] : [standing(SyncCondition.rulesBroken, 'Tolerated', message, resource.generation)];
}

function unsupportedCondition({ generation }: Resource, fault: string | undefined): readonly Condition[] {
  if (fault === undefined) return [];
  return [
    standing(SyncCondition.unsupportedByKuma, 'CannotBeSaid', `Kuma zones are not told of it: ${fault}`, generation),
  ];
}

function standing(type: string, reason: string, message: string, observedGeneration: number): Condition {
  return { type, status: 'True', reason, message, observedGeneration };
}

/** Violations that the condition spells out; the others are counted. */
const MAX_SHOWN = 5;

/** What a broken rule prevents. */
interface Consequence {
  readonly field: RegExp;
  /** Codes of the rules; any rule where absent. */
  readonly rules?: readonly ViolationRule[];
  readonly text: string;
}

/** The first that fits a violation counts. */
const CONSEQUENCES: readonly Consequence[] = [
  { field: /(?:)/, rules: ['unknown-field'], text: 'nothing here reads it' },
  { field: /\.port$/, rules: ['out-of-range', 'wrong-type'], text: 'DNS has no SRV record for it' },
  { field: /\.(port|name)$/, rules: ['not-unique'], text: 'DNS answers for the first of them only' },
  { field: /\.(appProtocol|protocol)$/, text: 'it is taken for tcp' },
  { field: /^spec\.template$/, text: 'it makes no hostname' },
];

/**
 * Which of our rules a resource breaks and what that prevents, in one line; undefined where it breaks none. A user's
 * write would be refused for each; what came by sync is kept and passed on (design.md §5 Strict at the door, tolerant
 * on the wire).
 */
export function brokenRules(kind: Kind, { spec }: Resource): string | undefined {
  const { first, total } = kind.check(spec, FieldPath.at('spec'));
  if (total === 0) return undefined;
  const lines = first.slice(0, MAX_SHOWN).map(describeViolation);
  const more = total > MAX_SHOWN ? [`and ${total - MAX_SHOWN} more`] : [];
  return `kept and handed on unchanged: ${[...lines, ...more].join('; ')}`;
}

function describeViolation({ field, reason, rule }: Violation): string {
  const consequence = CONSEQUENCES.find((each) => each.field.test(field) && (each.rules?.includes(rule) ?? true));
  return `${field} ${reason}${consequence ? ` (${consequence.text})` : ''}`;
}
