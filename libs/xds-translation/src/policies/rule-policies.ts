import { FractionalPercent_DenominatorType, HTTPFault, type Any, type RetryPolicy } from '@causeway/proto-gen';
import { goDurationMs } from '@causeway/resources';
import {
  backoffTimes,
  permittedChanges,
  type FaultSpec,
  type HeaderPolicyChanges,
  type HeaderSpec,
  type RetrySpec,
  type TimeoutSpec,
} from '@causeway/policies';
import type { Entry, Filter, HeaderChanges, RouteRule } from '@causeway/routing';
import { toProtoDuration, pack } from '@causeway/xds-server';

/** The effective policies of one rule; absent if there is none. */
export interface RulePolicies {
  readonly timeout?: TimeoutSpec;
  readonly retry?: RetrySpec;
  readonly fault?: FaultSpec;
  readonly headers?: HeaderSpec;
}

/** Returns the policies of a rule; without an argument those of the implicit route. */
export type PoliciesOf = (of?: Pick<Entry, 'route' | 'rule'>) => RulePolicies;

type RetryFields = Parameters<typeof RetryPolicy.fromPartial>[0];
type FaultFields = Parameters<typeof HTTPFault.fromPartial>[0];

/** The timeouts of a rule, ms; 0 is unlimited. */
export interface RuleTimes {
  readonly request: number;
  /** The timeout of one attempt. */
  readonly attempt: number;
  /** Absent where the proxy's default holds. */
  readonly idle?: number;
}

const parseMilliseconds = (text: string): number => goDurationMs(text) ?? 0;

/**
 * Computes the timeouts of a rule. The rule's own timeouts win, each individually; for an attempt the RetryPolicy is next; then the TimeoutPolicy.
 */
export function computeRuleTimes(own: RouteRule['timeouts'], { timeout, retry }: RulePolicies): RuleTimes {
  const request = own?.request ?? timeout?.request ?? '0s';
  const attempt = own?.backendRequest ?? retry?.perTryTimeout ?? timeout?.backendRequest ?? '0s';
  return {
    request: parseMilliseconds(request),
    attempt: parseMilliseconds(attempt),
    ...(timeout?.idle !== undefined && { idle: parseMilliseconds(timeout.idle) }),
  };
}

/** Returns the fields of the request timeout and the idle timeout. */
export function timeFields({ request, idle }: RuleTimes) {
  return { timeout: toProtoDuration(request), ...(idle !== undefined && { idleTimeout: toProtoDuration(idle) }) };
}

/** The retries of every rule. */
export type AlwaysRepeated = RetryFields & { readonly retryOn: string };

/**
 * Returns the retry fields: requests that no server has begun (`always`), and the conditions that a policy adds. Envoy has one retry count for all
 * conditions.
 */
export function retryFields(always: AlwaysRepeated, attempt: number, retry: RetrySpec | undefined): RetryFields {
  const { attempts, on = [], statuses = [] } = retry ?? {};
  const conditions = new Set([...always.retryOn.split(','), ...on]);
  if (statuses.length > 0) conditions.add('retriable-status-codes');
  return {
    ...always,
    retryOn: [...conditions].join(','),
    ...(attempts !== undefined && { numRetries: attempts }),
    ...(statuses.length > 0 && { retriableStatusCodes: [...statuses] }),
    ...(attempt > 0 && { perTryTimeout: toProtoDuration(attempt) }),
    ...backoffFields(retry?.backoff),
  };
}

/** Returns the backoff between retries of Envoy and gRPC; without a policy their defaults. */
export function backoffFields(backoff: RetrySpec['backoff']): Pick<RetryFields, 'retryBackOff'> {
  if (backoff?.base === undefined && backoff?.max === undefined) return {};
  const { base, max } = backoffTimes(backoff);
  return { retryBackOff: { baseInterval: toProtoDuration(base), maxInterval: toProtoDuration(max) } };
}

/** The name of the fault filter. It is in every connection manager, because a change of the filter list closes connections. */
export const FAULT_FILTER = 'fault';

/** The denominator of percentages in hundredths of a percent. */
const PARTS = 10_000;

const toFraction = (percent: number) => ({
  numerator: Math.round(percent * PARTS),
  denominator: FractionalPercent_DenominatorType.MILLION,
});

/** Returns the faults of a rule; undefined where it has none. `isCall`: requests are gRPC calls. */
export function faultFields(fault: FaultSpec | undefined, isCall: boolean): FaultFields | undefined {
  const { delay, abort } = fault ?? {};
  const wait = delay ? parseMilliseconds(delay.duration) : 0;
  const fields = {
    ...(delay &&
      wait > 0 && {
        delay: {
          faultDelaySecifier: { $case: 'fixedDelay' as const, value: toProtoDuration(wait) },
          percentage: toFraction(delay.percent),
        },
      }),
    ...(abort && { abort: { errorType: toAbort(abort, isCall), percentage: toFraction(abort.percent) } }),
  };
  return Object.keys(fields).length > 0 ? fields : undefined;
}

const UNAVAILABLE = 503;

function toAbort({ status, grpcStatus }: NonNullable<FaultSpec['abort']>, isCall: boolean) {
  return grpcStatus !== undefined && (isCall || status === undefined)
    ? { $case: 'grpcStatus' as const, value: grpcStatus }
    : { $case: 'httpStatus' as const, value: status ?? UNAVAILABLE };
}

/** Returns the configuration of the filter for a route; nothing where it has no faults. */
export function faultConfig(
  fault: FaultSpec | undefined,
  isCall: boolean,
): { readonly typedPerFilterConfig?: Record<string, Any> } {
  const fields = faultFields(fault, isCall);
  return fields ? { typedPerFilterConfig: { [FAULT_FILTER]: pack(HTTPFault, fields) } } : {};
}

/** Returns the header changes of a policy as filters that precede the rule's own, so that the rule's changes come last and win. */
export function headerFilters({ request, response }: HeaderSpec = {}): readonly Filter[] {
  return [
    ...(request ? [{ type: 'RequestHeaderModifier', requestHeaderModifier: toHeaderChanges(request) }] : []),
    ...(response ? [{ type: 'ResponseHeaderModifier', responseHeaderModifier: toHeaderChanges(response) }] : []),
  ];
}

/** Sorts by header name, so that equal policies are encoded to equal bytes. */
function toHeaderChanges(changes: HeaderPolicyChanges): HeaderChanges {
  const { set = {}, add = {}, remove = {} } = permittedChanges(changes);
  const values = (map: Readonly<Record<string, string>>) =>
    Object.keys(map)
      .sort()
      .map((name) => ({ name, value: map[name] ?? '' }));
  return { set: values(set), add: values(add), remove: Object.keys(remove).sort() };
}
