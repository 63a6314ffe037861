/**
 * The language of the mesh: kinds, resources, identities, labels, sync rules, violations, failures. Knows no kind.
 *
 *   defineKind → Kind → Registry;   Identity + Labels + spec + status → Resource
 *
 * Pure functions and frozen data; every other lib speaks in these words.
 */
export { FieldPath, shortened, type Violation, type ViolationRule } from './violation';
export { Violations } from './violations';
export { checkStorable, DEEPEST_JSON, isSurelyStorable, isText, jsonBytes } from './json-size';
export { Conflict, DomainError, Forbidden, Invalid, NotFound, Unavailable } from './domain-error';
export { isJsonArray, isJsonObject, jsonEqual, ownField, type JsonObject, type JsonValue } from './json';
export { conditionOf, withCondition, withConditionsOf, withoutConditions, type Condition } from './condition';
export {
  compareIdentities,
  compareText,
  describeIdentity,
  globalIdentity,
  identityKey,
  parseIdentityKey,
  zoneOfKey,
  type Identity,
} from './identity';
export { checkLabels, isLabelKey, isLabelValue, Label, labelsMatch, labelValue, type Labels } from './labels';
export { checkName, isDnsLabel, isSubdomain } from './names';
export {
  checkComputedLabels,
  computedLabels,
  effectiveLabel,
  hasEffectiveLabels,
  isComputedLabel,
  isMadeHere,
} from './computed-labels';
export { ownZone, type ControlPlane } from './control-plane';
export { crossesZones, Sync, type SyncRule } from './kind/sync-rule';
export { type FreedAddress, type OriginRevision, type Resource, type StorePoint, type Tombstone } from './resource';
export {
  DEFAULT_BOUNDS,
  type Kind,
  type KindBounds,
  type KindDefinition,
  type SpecOf,
  type Subject,
  type TypedKind,
} from './kind/kind';
export { defineKind, type KindInput } from './kind/define-kind';
export { Registry } from './kind/registry';
export { compileSchema, type CompiledSchema } from './schema/compiled-schema';
export { unknownField } from './schema/schema-violations';
export { nearest } from './suggestion';
