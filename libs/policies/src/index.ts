/** Policies that attach to a mesh, its namespaces, services and routes; the kinds that are shipped (docs/plans/policies.md, seed GEP-713). */
export {
  mayBeAnonymous,
  mayCall,
  namesPaths,
  UNCLEAR_IN_PATH,
  type AccessClause,
  type AccessRequest,
  type AccessRules,
  type AccessVerdict,
  type CallerTerm,
  type IdMatch,
} from './access/access-rules';
export { compileAccess, dependsOnFacts, type CallerFacts, type IdBearer } from './access/compile-access';
export { AccessPolicy, type AccessRequestMatch, type AccessRule, type AccessSpec } from './shipped/access-policy';
export { CircuitBreakerPolicy, type CircuitBreakerSpec } from './shipped/circuit-breaker-policy';
export { FaultPolicy, type FaultSpec } from './shipped/fault-policy';
export { HeaderPolicy, type HeaderPolicyChanges, type HeaderSpec } from './shipped/header-policy';
export {
  balancingAlgorithms,
  LoadBalancingPolicy,
  type HashEntry,
  type LoadBalancingSpec,
} from './shipped/load-balancing-policy';
export { RateLimitPolicy, type Rate, type RateLimitSpec } from './shipped/rate-limit-policy';
export { backoffTimes } from './shipped/retry-backoff';
export { RetryPolicy, retryConditions, type RetrySpec } from './shipped/retry-policy';
export {
  levels,
  mergeStrategies,
  planes,
  SHIPPED_GROUP,
  type DeclaredTarget,
  type Level,
  type MergeStrategy,
  type Plane,
  type ShippedPolicy,
  type Unable,
} from './shipped/shipped-policy';
export { TimeoutPolicy, type TimeoutSpec } from './shipped/timeout-policy';
