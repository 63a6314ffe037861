/** Policies that attach (libs/policies/README.md). */
export {
  CLEAR_PATH,
  mayBeAnonymous,
  mayCall,
  namesPaths,
  type AccessClause,
  type AccessRequest,
  type AccessRules,
  type AccessResult,
  type CallerTerm,
  type IdMatch,
} from './access/access-rules';
export { formerId, namespacedIds, revokedIds, type ChangingIds } from './access/changing-ids';
export { compileAccess, namespacesAsked, type CallerFacts, type IdBearer } from './access/compile-access';
export { evaluateCall, type CallResult, type InboundAccess } from './access/evaluate-call';
export { AccessPolicy, type AccessRequestMatch, type AccessRule, type AccessSpec } from './shipped/access-policy';
export { isUnseenByGrpc } from './shipped/grpc-headers';
export { CircuitBreakerPolicy, type CircuitBreakerSpec } from './shipped/circuit-breaker-policy';
export { ColorPolicy, type ColorSpec } from './shipped/color-policy';
export { FaultPolicy, type FaultSpec } from './shipped/fault-policy';
export { HeaderPolicy, permittedChanges, type HeaderPolicyChanges, type HeaderSpec } from './shipped/header-policy';
export {
  balancingAlgorithms,
  LoadBalancingPolicy,
  type HashEntry,
  type LoadBalancingSpec,
} from './shipped/load-balancing-policy';
export { RateLimitPolicy, type Rate, type RateLimitSpec } from './shipped/rate-limit-policy';
export { backoffTimes } from './shipped/retry-backoff';
export { RetryPolicy, retryConditions, type RetrySpec } from './shipped/retry-policy';
export { shippedDefinition, shippedDefinitionName, shippedPolicies } from './shipped/shipped-policies';
export { planes, SHIPPED_GROUP, type Plane, type ShippedPolicy, type UnsupportedField } from './shipped/shipped-policy';
export { TimeoutPolicy, type TimeoutSpec } from './shipped/timeout-policy';
export { type Fold, type ScopeState, type Source, type Sources } from './fold/fold';
export { mergePatch, plainValue, tracedSpec } from './fold/traced';
export { policyDefinition, type DeclaredTarget, type DefinitionSpec, type PolicyDefinition } from './model/definition';
export { definitionViolations, readDefinition, type WrittenDefinition } from './model/definition-rules';
export {
  crossNamespaceRules,
  levels,
  mergeStrategies,
  strategies,
  targetKinds,
  type CrossNamespace,
  type Level,
  type MergeStrategy,
  type Strategy,
} from './model/levels';
export { RESERVED_FIELDS, type Policy, type StoredPolicy, type TargetRef } from './model/policy';
export { normalPolicySpec, policyViolations, readPolicy } from './model/read-policy';
export { MAX_TARGET_REFS } from './model/target-refs';
export {
  findCallers,
  MAX_SCOPES,
  evaluatePolicy,
  type AncestorResult,
  type PolicyEvaluation,
  type ScopeResult,
} from './reads/evaluate-policy';
export { type BackendAt, type Effective, type RuleAt } from './table/effective';
export { type PolicyChangeSet } from './table/policy-change-set';
export { type TargetObject } from './table/objects';
export { PolicyTable } from './table/policy-table';
export { affectedBy, levelsOfKind, policyKeysOn, type AffectedBy } from './reads/affected';
export { computeImpact, type ChangedPath } from './reads/impact';
export { foldPath, pathsAt, virtualPath, type PolicyPath } from './reads/policy-path';
export { findScopes } from './reads/scopes';
export { policiesOnNode, TopologyReader, type Topology } from './reads/topology';
export { type FoundTarget } from './table/attachments';
export { type KindTable } from './table/kind-table';
export { virtualNode, type Node as PathNode } from './table/nodes';
