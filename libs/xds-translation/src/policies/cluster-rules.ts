import { type CircuitBreakers, Cluster_LbPolicy, type Cluster, type OutlierDetection } from '@causeway/proto-gen';
import type { CircuitBreakerSpec, LoadBalancingSpec } from '@causeway/policies';
import { durationMs } from '@causeway/resources';
import { toProtoDuration } from '@causeway/xds-server';

/** The effective policies of one port of a service; absent if there is none. */
export interface BackendRules {
  readonly breaker?: CircuitBreakerSpec;
  readonly balancing?: LoadBalancingSpec;
}

export const NO_RULES: BackendRules = {};

type ClusterRuleFields = Parameters<typeof Cluster.fromPartial>[0];
type OutlierFields = Parameters<typeof OutlierDetection.fromPartial>[0];

/** Effectively unlimited: Envoy's defaults of 1,024 connections and 3 retries would refuse traffic that the server could take. */
export const NO_BREAKER = 1_000_000;

/** Returns the circuit breaker of a cluster. Our routes all have the default priority. */
export function circuitBreakers({ breaker }: BackendRules): Parameters<typeof CircuitBreakers.fromPartial>[0] {
  const { connections, pendingRequests, requests, retries } = breaker?.limits ?? {};
  return {
    thresholds: [
      {
        maxConnections: connections ?? NO_BREAKER,
        maxPendingRequests: pendingRequests ?? NO_BREAKER,
        maxRequests: requests ?? NO_BREAKER,
        maxRetries: retries ?? NO_BREAKER,
      },
    ],
  };
}

/** The endpoints of a cluster: a response reflects on a single instance only if the endpoint is an instance. */
export type EndpointsAre = 'instances' | 'instances and ingresses' | 'ingresses';

/**
 * An endpoint whose connections fail twice in a row is ejected for 2 s, and longer each time, up to 10 s: later connect attempts go elsewhere.
 * Responses of servers never count.
 */
export const unreachableEndpoints = {
  splitExternalLocalOriginErrors: true,
  consecutiveLocalOriginFailure: 2,
  interval: toProtoDuration(1_000),
  baseEjectionTime: toProtoDuration(2_000),
  maxEjectionTime: toProtoDuration(10_000),
  maxEjectionPercent: 100,
  enforcingConsecutive5xx: 0,
  enforcingSuccessRate: 0,
  enforcingLocalOriginSuccessRate: 0,
};

/** Defaults of outlier detection: ms, percent. */
const PRESET = { errors: 5, interval: 10_000, time: 30_000, maxPercent: 50 };
const MAX_EJECTION_TIME = 300_000;

/**
 * Returns the outlier detection of a cluster. Behind the ingress of another zone stand many instances, and a connection reaches one of them:
 * responses never eject an ingress. A service with endpoints only in other zones has no ejection by responses.
 */
export function ejection(
  { breaker }: BackendRules,
  endpoints: EndpointsAre,
  usual: OutlierFields | undefined,
): OutlierFields | undefined {
  const spec = breaker?.ejection;
  if (!spec || endpoints === 'ingresses') return usual;
  const { consecutiveErrors = PRESET.errors, consecutiveGatewayErrors, maxPercent = PRESET.maxPercent } = spec;
  const time = parseMilliseconds(spec.time, PRESET.time);
  const judged = endpoints === 'instances' ? 100 : 0;
  return {
    ...unreachableEndpoints,
    consecutiveLocalOriginFailure: consecutiveErrors,
    consecutive5xx: consecutiveErrors,
    enforcingConsecutive5xx: judged,
    ...(consecutiveGatewayErrors !== undefined && {
      consecutiveGatewayFailure: consecutiveGatewayErrors,
      enforcingConsecutiveGatewayFailure: judged,
    }),
    interval: toProtoDuration(parseMilliseconds(spec.interval, PRESET.interval)),
    baseEjectionTime: toProtoDuration(time),
    maxEjectionTime: toProtoDuration(Math.max(time, MAX_EJECTION_TIME)),
    maxEjectionPercent: maxPercent,
  };
}

const POLICIES: Readonly<Record<NonNullable<LoadBalancingSpec['algorithm']>, Cluster_LbPolicy>> = {
  RoundRobin: Cluster_LbPolicy.ROUND_ROBIN,
  LeastRequest: Cluster_LbPolicy.LEAST_REQUEST,
  Random: Cluster_LbPolicy.RANDOM,
  RingHash: Cluster_LbPolicy.RING_HASH,
  Maglev: Cluster_LbPolicy.MAGLEV,
};

/** Returns the load balancing of a cluster. */
export function balancing({ balancing: spec }: BackendRules): Pick<ClusterRuleFields, 'lbPolicy'> {
  return spec?.algorithm ? { lbPolicy: POLICIES[spec.algorithm] } : {};
}

/** Returns the milliseconds of a duration in one unit, within bounds. */
export function parseMilliseconds(text: string | undefined, preset: number): number {
  return (text === undefined ? undefined : durationMs(text)) ?? preset;
}
