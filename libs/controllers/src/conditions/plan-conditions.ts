import type { Designation } from '@causeway/meshes';
import type { OldCredential } from '@causeway/identity';
import { Dataplane, MeshService } from '@causeway/kinds';
import {
  FieldPath,
  isJsonArray,
  isJsonObject,
  isMadeHere,
  withCondition,
  withoutConditions,
  type Condition,
  type ControlPlane,
  type Identity,
  type Kind,
  type Resource,
  type Violation,
  type ViolationRule,
} from '@causeway/resources';
import type { PatchChange } from '@causeway/store';
import { SyncCondition, type LostPolicy, type LostState } from '@causeway/sync';

/** Reason and message of the condition of a mesh that is not served. */
export interface MeshFault {
  readonly reason: 'NoSuchMesh' | 'ForeignMesh';
  readonly message: string;
}

/** Inputs of the conditions of a resource besides the resource. */
export interface ConditionInputs {
  readonly cp: ControlPlane;
  /** Returns why services of this mesh are not served here; undefined if they are. */
  meshFault(mesh: string): MeshFault | undefined;
  /** Returns the result of `designate` for a new resource in the namespace and mesh of an identity. */
  designation(id: Identity): Designation;
  /** Returns the state of a lost zone for the zone and mesh of an identity. */
  lostState(id: Identity): LostState | undefined;
  /** Returns why a resource cannot be sent to Kuma zones; undefined if it can. */
  unsupportedByKuma(resource: Resource, kind: Kind): string | undefined;
  /** Reports whether `Mesh.mtls` of a mesh is on. */
  hasMeshMtls(mesh: string): boolean;
  /** Finds the credential from before enrolments that the host of a Dataplane of this zone still uses. */
  oldCredential(dataplane: Identity): OldCredential | undefined;
}

/** The condition of a Dataplane whose host joined before its zone used enrolments. */
const OLD_CREDENTIAL = 'causeway.io/OldCredential';

/** The condition types that this plan writes; conditions of other writers are left unchanged. */
const TYPES: readonly string[] = [
  SyncCondition.originLost,
  SyncCondition.meshMissing,
  SyncCondition.membershipConflict,
  SyncCondition.rulesBroken,
  SyncCondition.unsupportedByKuma,
  SyncCondition.meshMtls,
  OLD_CREDENTIAL,
];

const LOST_REASONS: Readonly<Record<LostPolicy, string>> = {
  keep: 'Kept',
  depreferred: 'Depreferred',
  withdraw: 'Withdrawn',
};

/** Returns the patch that updates the sync conditions of a resource; undefined if they are up to date. */
export function planConditions(
  resource: Resource,
  kind: Kind,
  inputs: ConditionInputs,
  now: number,
): PatchChange | undefined {
  const wanted = wantedConditions(resource, kind, inputs);
  const before = resource.status ?? {};
  const ended = TYPES.filter((type) => !wanted.some((condition) => condition.type === type));
  const status = wanted.reduce(
    (written, condition) => withCondition(written, condition, now),
    withoutConditions(before, ended),
  );
  return status === before ? undefined : { type: 'patch', id: resource.id, expect: resource.revision, status };
}

function wantedConditions(resource: Resource, kind: Kind, inputs: ConditionInputs): readonly Condition[] {
  const isCopy = !isMadeHere(resource, inputs.cp);
  return [
    ...(isCopy ? originLost(resource, inputs) : []),
    ...meshMissing(resource, kind, inputs),
    ...(isCopy ? membershipConflict(resource, kind, inputs) : []),
    ...(isCopy ? rulesBroken(resource, kind) : []),
    ...unsupportedCondition(resource, inputs.unsupportedByKuma(resource, kind)),
    ...(kind.name === MeshService.name ? believedByMesh(resource, inputs) : []),
    ...(kind.name === Dataplane.name && !isCopy ? withOldCredential(resource, inputs) : []),
  ];
}

function originLost({ id, generation }: Resource, inputs: ConditionInputs): readonly Condition[] {
  const { zone } = id;
  const lost = zone === '' ? undefined : inputs.lostState(id);
  if (!lost) return [];
  const message = `zone "${zone}" has had no session with the global since ${lost.since}; policy ${lost.policy}`;
  return [trueCondition(SyncCondition.originLost, LOST_REASONS[lost.policy], message, generation)];
}

function meshMissing(
  { id: { mesh }, generation }: Resource,
  kind: Kind,
  inputs: ConditionInputs,
): readonly Condition[] {
  const fault = kind.scope === 'global' ? undefined : inputs.meshFault(mesh);
  return fault ? [trueCondition(SyncCondition.meshMissing, fault.reason, fault.message, generation)] : [];
}

const MEMBERSHIP_REASONS = { overlap: 'SeveralMeshes', mismatch: 'OtherMesh', terminating: undefined } as const;

/** A resource stays in the mesh where it was made (row T003-25); the condition states that it would not be made there today. */
function membershipConflict({ id, generation }: Resource, kind: Kind, inputs: ConditionInputs): readonly Condition[] {
  if (kind.scope === 'global' || !kind.namespaced) return [];
  const designation = inputs.designation(id);
  const reason = designation.ok ? undefined : MEMBERSHIP_REASONS[designation.rule];
  if (designation.ok || reason === undefined) return [];
  const message = `it stays in mesh "${id.mesh}": ${designation.reason}`;
  return [trueCondition(SyncCondition.membershipConflict, reason, message, generation)];
}

function rulesBroken(resource: Resource, kind: Kind): readonly Condition[] {
  const message = brokenRules(kind, resource);
  return message === undefined
    ? []
    : [trueCondition(SyncCondition.rulesBroken, 'Tolerated', message, resource.generation)];
}

function unsupportedCondition({ generation }: Resource, fault: string | undefined): readonly Condition[] {
  if (fault === undefined) return [];
  return [
    trueCondition(
      SyncCondition.unsupportedByKuma,
      'NotExpressible',
      `it is not sent to Kuma zones: ${fault}`,
      generation,
    ),
  ];
}

/** An id in the domain with the mesh's name, or a tag, which stands for such an id, is authenticated by that authority. */
function believedByMesh({ id: { mesh }, spec, generation }: Resource, inputs: ConditionInputs): readonly Condition[] {
  const { identities } = spec;
  if (!isJsonArray(identities) || !inputs.hasMeshMtls(mesh)) return [];
  const isOfMesh = (one: unknown): boolean =>
    isJsonObject(one) &&
    (one['type'] === 'ServiceTag' ||
      (typeof one['value'] === 'string' && one['value'].startsWith(`spiffe://${mesh}/`)));
  if (!identities.slice(0, MAX_IDENTITIES).some(isOfMesh)) return [];
  const message = `its callers trust the authority of Mesh.mtls of mesh "${mesh}", whose key every zone of Kuma has: whoever reads it there can pose as this service`;
  return [trueCondition(SyncCondition.meshMtls, 'SharedAuthority', message, generation)];
}

function withOldCredential({ id, generation }: Resource, inputs: ConditionInputs): readonly Condition[] {
  const old = inputs.oldCredential(id);
  if (!old) return [];
  const services = old.services.length === 0 ? 'no service' : old.services.join(', ');
  const message = `its machine shows a credential from before enrolments, valid for ${services} only; get a new one: ${old.command}`;
  return [trueCondition(OLD_CREDENTIAL, 'NamesNoServices', message, generation)];
}

/** Maximum number of identities of a service that are checked: the limit of the kind. */
const MAX_IDENTITIES = 1_024;

function trueCondition(type: string, reason: string, message: string, observedGeneration: number): Condition {
  return { type, status: 'True', reason, message, observedGeneration };
}

/** Maximum number of violations that the condition lists; the others are counted. */
const MAX_SHOWN = 5;

/** The effect of a broken rule. */
interface Consequence {
  readonly field: RegExp;
  /** Codes of the rules; any rule where absent. */
  readonly rules?: readonly ViolationRule[];
  readonly text: string;
}

/** The first entry that matches a violation applies. */
const CONSEQUENCES: readonly Consequence[] = [
  { field: /(?:)/, rules: ['unknown-field'], text: 'this control plane does not read it' },
  { field: /\.port$/, rules: ['out-of-range', 'wrong-type'], text: 'DNS has no SRV record for it' },
  { field: /\.(port|name)$/, rules: ['not-unique'], text: 'DNS answers for the first of them only' },
  { field: /\.(appProtocol|protocol)$/, text: 'it is treated as tcp' },
  { field: /^spec\.template$/, text: 'it makes no hostname' },
];

/**
 * Returns the rules that a resource breaks and their effects, in one line; undefined if it breaks none. A user's write would be refused for each of
 * them; a resource from sync is kept and passed on (docs/design.md §5 Strict at the door, tolerant on the wire).
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
