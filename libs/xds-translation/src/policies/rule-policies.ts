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

/** The policies of a rule; without one those of the implicit route. */
export type PoliciesOf = (of?: Pick<Entry, 'route' | 'rule'>) => RulePolicies;

type RetryFields = Parameters<typeof RetryPolicy.fromPartial>[0];
type FaultFields = Parameters<typeof HTTPFault.fromPartial>[0];

/** How long the requests of a rule may take, ms; 0 is without end. */
export interface RuleTimes {
  readonly request: number;
  /** Of one attempt. */
  readonly attempt: number;
  /** Absent where the proxy's own holds. */
  readonly idle?: number;
}

const parseMilliseconds = (text: string): number => goDurationMs(text) ?? 0;

/** A rule's own time-outs win, each by itself; then that of one attempt by a RetryPolicy, then a TimeoutPolicy. */
export function computeRuleTimes(own: RouteRule['timeouts'], { timeout, retry }: RulePolicies): RuleTimes {
  const request = own?.request ?? timeout?.request ?? '0s';
  const attempt = own?.backendRequest ?? retry?.perTryTimeout ?? timeout?.backendRequest ?? '0s';
  return {
    request: parseMilliseconds(request),
    attempt: parseMilliseconds(attempt),
    ...(timeout?.idle !== undefined && { idle: parseMilliseconds(timeout.idle) }),
  };
}

/** The times of a whole request, and without traffic. */
export function timeFields({ request, idle }: RuleTimes) {
  return { timeout: toProtoDuration(request), ...(idle !== undefined && { idleTimeout: toProtoDuration(idle) }) };
}

/** The retries that every rule has. */
export type AlwaysRepeated = RetryFields & { readonly retryOn: string };

/**
 * What is repeated: what no server has begun (`always`), and what a policy adds. Envoy has one number of repetitions for all
 * reasons.
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

/** How long Envoy and gRPC wait between repetitions; without the policy's word as they do by themselves. */
export function backoffFields(backoff: RetrySpec['backoff']): Pick<RetryFields, 'retryBackOff'> {
  if (backoff?.base === undefined && backoff?.max === undefined) return {};
  const { base, max } = backoffTimes(backoff);
  return { retryBackOff: { baseInterval: toProtoDuration(base), maxInterval: toProtoDuration(max) } };
}

/** The filter that waits or answers in place of a server; in every connection manager, for a change of filters closes connections. */
export const FAULT_FILTER = 'fault';

/** Of ten thousand parts of a percent. */
const PARTS = 10_000;

const toFraction = (percent: number) => ({
  numerator: Math.round(percent * PARTS),
  denominator: FractionalPercent_DenominatorType.MILLION,
});

/** The faults of a rule; undefined where it has none. `isCall`: its requests are calls of gRPC. */
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

/** The changes of headers as filters, to stand before those of the rule: what the rule says of a header comes last and wins. */
export function headerFilters({ request, response }: HeaderSpec = {}): readonly Filter[] {
  return [
    ...(request ? [{ type: 'RequestHeaderModifier', requestHeaderModifier: toHeaderChanges(request) }] : []),
    ...(response ? [{ type: 'ResponseHeaderModifier', responseHeaderModifier: toHeaderChanges(response) }] : []),
  ];
}

/** In the order of names, so that equal policies are equal on the wire. */
function toHeaderChanges(changes: HeaderPolicyChanges): HeaderChanges {
  const { set = {}, add = {}, remove = {} } = permittedChanges(changes);
  const values = (map: Readonly<Record<string, string>>) =>
    Object.keys(map)
      .sort()
      .map((name) => ({ name, value: map[name] ?? '' }));
  return { set: values(set), add: values(add), remove: Object.keys(remove).sort() };
}
