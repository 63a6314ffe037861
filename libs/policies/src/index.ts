/** Policies that attach (libs/policies/README.md). */
export {
  CLEAR_PATH,
  mayBeAnonymous,
  namesPaths,
  type AccessClause,
  type AccessRequest,
  type AccessRules,
  type IdMatch,
} from './access/access-rules';
export { formerId, namespacedIds, revokedIds, type ChangingIds } from './access/changing-ids';
export { compileAccess, namespacesAsked, type CallerFacts, type IdBearer } from './access/compile-access';
export { evaluateCall, type CallResult, type InboundAccess } from './access/evaluate-call';
export { AccessPolicy, type AccessRequestMatch, type AccessRule, type AccessSpec } from './shipped/access-policy';
export { isUnseenByGrpc } from './shipped/grpc-headers';
export { CircuitBreakerPolicy, type CircuitBreakerSpec } from './shipped/circuit-breaker-policy';
export { FaultPolicy, type FaultSpec } from './shipped/fault-policy';
export { HeaderPolicy, permittedChanges, type HeaderPolicyChanges, type HeaderSpec } from './shipped/header-policy';
export { LoadBalancingPolicy, type HashEntry, type LoadBalancingSpec } from './shipped/load-balancing-policy';
export { RateLimitPolicy, type RequestRate, type RateLimitSpec } from './shipped/rate-limit-policy';
export { backoffTimes } from './shipped/retry-backoff';
export { RetryPolicy, type RetrySpec } from './shipped/retry-policy';
export { shippedDefinition, shippedDefinitionName, shippedPolicies } from './shipped/shipped-policies';
export { SHIPPED_GROUP, type DataplaneMode, type ShippedPolicy, type UnsupportedField } from './shipped/shipped-policy';
export { TimeoutPolicy, type TimeoutSpec } from './shipped/timeout-policy';
export { type Fold } from './fold/fold';
export { policyDefinition, type PolicyDefinition } from './model/definition';
export { definitionViolations, readDefinition } from './model/definition-rules';
export { crossNamespaceRules, levels, strategies, targetKinds } from './model/levels';
export { RESERVED_FIELDS, type Policy, type TargetRef } from './model/policy';
export { normalPolicySpec, policyViolations, readPolicy } from './model/read-policy';
export { MAX_TARGET_REFS } from './model/target-refs';
export {
  findCallers,
  MAX_SCOPES,
  evaluatePolicy,
  type PolicyEvaluation,
  type ScopeResult,
} from './reads/evaluate-policy';
export { type Effective } from './table/effective';
export { type PolicyChangeSet } from './table/policy-change-set';
export { PolicyTable } from './table/policy-table';
export { affectedBy, levelsOfKind, policyKeysOn, type AffectedBy } from './reads/affected';
export { computeImpact } from './reads/impact';
export { foldPath, pathsAt, virtualPath, type PolicyPath } from './reads/policy-path';
export { findScopes } from './reads/scopes';
export { policiesOnNode, TopologyReader } from './reads/topology';
export { type FoundTarget } from './table/attachments';
export { type KindTable } from './table/kind-table';
export { virtualNode, type Node as PathNode } from './table/nodes';
