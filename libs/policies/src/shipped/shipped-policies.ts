import { AccessPolicy } from './access-policy';
import { CircuitBreakerPolicy } from './circuit-breaker-policy';
import { FaultPolicy } from './fault-policy';
import { HeaderPolicy } from './header-policy';
import { LoadBalancingPolicy } from './load-balancing-policy';
import { RateLimitPolicy } from './rate-limit-policy';
import { RetryPolicy } from './retry-policy';
import type { ShippedPolicy } from './shipped-policy';
import { TimeoutPolicy } from './timeout-policy';

/** The kinds that proxies enforce, by name. Their group is `SHIPPED_GROUP`. */
export const shippedPolicies: ReadonlyMap<string, ShippedPolicy> = new Map(
  [
    ...[TimeoutPolicy, RetryPolicy, FaultPolicy, HeaderPolicy, CircuitBreakerPolicy, LoadBalancingPolicy],
    ...[RateLimitPolicy, AccessPolicy],
  ].map((shipped) => [shipped.kind, shipped]),
);
