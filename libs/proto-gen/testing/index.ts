/** Test support of this lib: internals that tests and benchmarks elsewhere import. Production code does not import it. */
export { PolicyServiceClient } from '../src/gen/causeway/v1/policy_service';
export { AggregatedDiscoveryServiceClient } from '../src/gen/envoy/service/discovery/v3/ads';
export { DiscoveryResponse } from '../src/gen/envoy/service/discovery/v3/discovery';
export { RBAC as RbacRules } from '../src/gen/envoy/config/rbac/v3/rbac';
export { HttpFilter } from '../src/gen/envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager';
