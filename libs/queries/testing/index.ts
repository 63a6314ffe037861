/** Test support of this lib: internals that tests and benchmarks elsewhere import. Production code does not import it. */
export type { QueryLimits } from '../src/queries';
export type { InstanceSource } from '../src/discovery/prometheus-targets';
export { MAX_FOUND } from '../src/policies/declared-targets';
export { MAX_TOPOLOGY_NODES, MAX_VALUES } from '../src/policies/policy-queries';
export type { SyncDecisions } from '../src/zones/operator-decisions';
export type { UserAccess } from '../src/queries';
export type { ProxySource } from '../src/inspect/proxies';
export { ClaimsView } from '../src/explain/claims-view';
export type { DataplaneSources } from '../src/queries';
