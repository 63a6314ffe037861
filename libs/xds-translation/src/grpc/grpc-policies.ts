import {
  CircuitBreakerPolicy,
  FaultPolicy,
  HeaderPolicy,
  LoadBalancingPolicy,
  RetryPolicy,
  TimeoutPolicy,
  type UnsupportedField,
} from '@causeway/policies';
import type { RouteRule } from '@causeway/routing';
import { toProtoDuration } from '@causeway/xds-server';
import type { BackendRules } from '../policies/cluster-rules';
import { backoffFields, faultConfig, computeRuleTimes, type RulePolicies } from '../policies/rule-policies';
import type { RouteActionFields, RouteFields } from '../model/message-fields';

/** The retry conditions that gRPC clients support (gRPC proposal A44), and the number of retries where a policy sets none. */
const CONDITIONS: readonly string[] = [
  'cancelled',
  'deadline-exceeded',
  'internal',
  'resource-exhausted',
  'unavailable',
];
const USUAL_RETRIES = 4;

/** The fields of a route for the timeout and retries of a call. */
export type CallFields = Pick<RouteActionFields, 'maxStreamDuration' | 'retryPolicy'>;

/** Returns the timeout of a call and its retries. gRPC clients have no timeout for an attempt, so the shorter of both timeouts ends the call. */
export function callFields(own: RouteRule['timeouts'], policies: RulePolicies): CallFields {
  const { retry, timeout } = policies;
  const { request, attempt } = computeRuleTimes(own, timeout ? { timeout } : {});
  const times = [request, attempt].filter((each) => each > 0);
  const conditions = (retry?.on ?? []).filter((each) => CONDITIONS.includes(each));
  return {
    ...(times.length > 0 && { maxStreamDuration: { maxStreamDuration: toProtoDuration(Math.min(...times)) } }),
    ...(conditions.length > 0 && {
      retryPolicy: {
        retryOn: conditions.join(','),
        numRetries: retry?.attempts ?? USUAL_RETRIES,
        ...backoffFields(retry?.backoff),
      },
    }),
  };
}

/** Returns the faults of calls; clients without the filter inject none. */
export function callFaults({ fault }: RulePolicies): Pick<RouteFields, 'typedPerFilterConfig'> {
  return faultConfig(fault, true);
}

/** Lists the parts of policies that a gRPC client does not apply. */
export function lostPolicies({ timeout, retry, fault, headers }: RulePolicies): readonly string[] {
  return [
    ...(timeout ? describeLost('TimeoutPolicy', TimeoutPolicy.unsupported('grpc', timeout)) : []),
    ...(retry ? describeLost('RetryPolicy', RetryPolicy.unsupported('grpc', retry)) : []),
    ...(fault ? describeLost('FaultPolicy', FaultPolicy.unsupported('grpc', fault)) : []),
    ...(headers ? describeLost('HeaderPolicy', HeaderPolicy.unsupported('grpc', headers)) : []),
  ];
}

/** Lists the parts of a service's policies that a gRPC client does not apply. */
export function lostBackendPolicies({ breaker, balancing }: BackendRules): readonly string[] {
  return [
    ...(breaker ? describeLost('CircuitBreakerPolicy', CircuitBreakerPolicy.unsupported('grpc', breaker)) : []),
    ...(balancing ? describeLost('LoadBalancingPolicy', LoadBalancingPolicy.unsupported('grpc', balancing)) : []),
  ];
}

const describeLost = (kind: string, found: readonly UnsupportedField[]): string[] =>
  found.map(({ field, reason }) => `${kind}${field === '' ? '' : ` ${field}`}: ${reason}`);
