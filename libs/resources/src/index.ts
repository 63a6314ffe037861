/** The language of the mesh (libs/resources/README.md). */
export { ChangeCollector } from './change-collector';
export {
  checkComputedLabels,
  computedLabels,
  effectiveLabel,
  hasEffectiveLabels,
  isComputedLabel,
  isMadeHere,
  ownZone,
  type ControlPlane,
} from './computed-labels';
export {
  findCondition,
  isWithdrawn,
  WITHDRAWN,
  statusAsRead,
  withCondition,
  withConditionsFrom,
  withoutConditions,
  type Condition,
} from './condition';
export { compareOrders, laterOrder } from './creation-order';
export { frontendOfVirtualService, isGeneratedFrom } from './generated';
export { durationMs, goDurationMs } from './duration';
export { dnsNameProblem, MAX_HOSTNAME_LENGTH, tooLong } from './dns-name';
export { Conflict, DomainError, Forbidden, Invalid, NotFound, Unavailable } from './domain-error';
export { httpViolations } from './http/http-places';
export {
  ESCAPED_CHARACTER,
  FORBIDDEN_HEADERS,
  httpProblem,
  isWritten,
  LOWER_CASE_HEADER,
  ONE_LINE,
  type HttpRole,
} from './schema/http-rule';
export {
  checkName,
  checkNamespace,
  compareIdentities,
  compareText,
  describeIdentity,
  globalIdentity,
  identityKey,
  isResourceKey,
  isDnsLabel,
  parseIdentityKey,
  type ResourceKey,
  zoneOfKey,
  type Identity,
} from './identity';
export {
  checkStorable,
  countJsonValues,
  isJsonArray,
  isJsonObject,
  isSurelyStorable,
  jsonBytes,
  jsonEqual,
  jsonShapeViolation,
  ownField,
  type JsonObject,
  type JsonValue,
} from './json';
export { bareGroup, describeGroups, listGroups, parseApiVersion, type GroupedKind } from './kind/api-groups';
export { defineKind } from './kind/define-kind';
export { type Kind, type KindAlias, type SpecOf } from './kind/kind';
export { Registry, type KindSource, type NamedKind } from './kind/registry';
export { crossesZones, Sync } from './kind/sync-rule';
export {
  checkLabels,
  isLabelKey,
  isLabelValue,
  Label,
  labelsMatch,
  labelValue,
  namespaceLabels,
  selectsLabels,
  type Labels,
  type LabelSelector,
} from './labels';
export { type FreedAddress, type OriginRevision, type Resource, type StorePoint, type Tombstone } from './resource';
export { compileSchema, interpretSchema, type CompiledSchema } from './schema/compiled-schema';
export { HTTP_ROLE, PATTERN_TEST, type Schema } from './schema/schema';
export { unknownField } from './schema/schema-violations';
export { deleteFrom, getOrInsert, MultiMap } from './multi-map';
export { nearest } from './suggestion';
export { escapedLine, escapedLines, escapedYaml, hasUnprintable, printableText } from './printable';
export { formatTraceparent, identityAttributes, parseTraceparent, recentTrace } from './traceparent';
export {
  FieldPath,
  shortened,
  Violations,
  type Violation,
  type ViolationReport,
  type ViolationRule,
} from './violation';
