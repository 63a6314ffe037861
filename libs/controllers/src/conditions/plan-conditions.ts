import {
  isMadeHere,
  withCondition,
  withoutConditions,
  type Condition,
  type ControlPlane,
  type Kind,
  type Resource,
} from '@causeway/resources';
import type { PatchChange } from '@causeway/store';
import { SyncCondition, type LostPolicy, type LostState } from '@causeway/sync';
import { brokenRules } from './broken-rules';

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
