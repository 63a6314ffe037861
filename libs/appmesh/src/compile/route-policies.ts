import type { FieldPath, JsonObject, Violation } from '@causeway/resources';
import type { RouterRoute, RetryEvents, Protocol } from '../model';
import { gatewayDuration, toMilliseconds } from './durations';
import { checkFields } from './known-fields';

/** Names of App Mesh's retry events in RetryPolicy, or the statuses that they mean. */
const HTTP_EVENTS: Readonly<Record<string, { readonly on?: string; readonly statuses?: readonly number[] }>> = {
  'server-error': { statuses: [500, 501, 502, 503, 504, 505, 506, 507, 508, 510, 511] },
  'gateway-error': { statuses: [502, 503, 504] },
  'client-error': { statuses: [409] },
  'stream-error': { on: 'refused-stream' },
};
const GRPC_EVENTS = ['cancelled', 'deadline-exceeded', 'internal', 'resource-exhausted', 'unavailable'];
const RETRY = {
  known: ['httpRetryEvents', 'tcpRetryEvents', 'grpcRetryEvents', 'maxRetries', 'perRetryTimeout'],
  refused: {},
};
const MAX_RETRIES = 10;
/** Maximum duration in policies and routes: 99,999 hours, ms. */
const MAX_DURATION = 99_999 * 3_600_000;
const TOO_LONG = 'must be at most 99999 hours';

type Timeouts = NonNullable<NonNullable<RouterRoute['http']>['timeout']>;

/**
 * Compiles the timeouts of a route: `rule` has those of the route rule, `policy` is the spec of a TimeoutPolicy for the
 * others. A GRPCRoute has no timeouts of its own, and none for connections can be applied here.
 */
export function compileTimeouts(
  timeout: Timeouts,
  protocol: Protocol,
  { at, found }: { readonly at: FieldPath; readonly found: Violation[] },
): { readonly rule?: JsonObject; readonly policy?: JsonObject } {
  checkFields(timeout, { known: ['perRequest', 'idle'], refused: {} }, at, found);
  const { perRequest, idle } = timeout;
  if (protocol === 'tcp') {
    if (idle || perRequest)
      found.push(at.violation('is not supported: only client and server close connections', 'not-allowed'));
    return {};
  }
  for (const [field, given] of [
    ['perRequest', perRequest],
    ['idle', idle],
  ] as const)
    if (given && toMilliseconds(given) > MAX_DURATION) found.push(at.field(field).violation(TOO_LONG, 'out-of-range'));
  const request = perRequest && { request: gatewayDuration(perRequest) };
  const ownRule = protocol !== 'grpc' && request ? { rule: request } : {};
  const rest = { ...(protocol === 'grpc' && request), ...(idle && { idle: gatewayDuration(idle) }) };
  return { ...ownRule, ...(Object.keys(rest).length > 0 && { policy: rest }) };
}

/** Returns the spec of a route's RetryPolicy; undefined if nothing is retried. */
export function compileRetry(
  retry: RetryEvents,
  protocol: Protocol,
  { at, found }: { readonly at: FieldPath; readonly found: Violation[] },
): JsonObject | undefined {
  checkFields(retry, RETRY, at, found);
  if (protocol === 'tcp') {
    found.push(at.violation('is not supported: connections are not repeated', 'not-allowed'));
    return undefined;
  }
  const { httpRetryEvents = [], tcpRetryEvents = [], grpcRetryEvents = [], maxRetries, perRetryTimeout } = retry;
  const on = new Set<string>();
  const statuses = new Set<number>();
  httpRetryEvents.forEach((event, i) => {
    const means = Object.hasOwn(HTTP_EVENTS, event) ? HTTP_EVENTS[event] : undefined;
    if (!means) found.push(unknownEvent(at.field('httpRetryEvents').index(i), event, Object.keys(HTTP_EVENTS)));
    if (means?.on !== undefined) on.add(means.on);
    for (const status of means?.statuses ?? []) statuses.add(status);
  });
  tcpRetryEvents.forEach((event, i) => {
    if (event === 'connection-error') on.add('connect-failure');
    else found.push(unknownEvent(at.field('tcpRetryEvents').index(i), event, ['connection-error']));
  });
  grpcRetryEvents.forEach((event, i) => {
    if (GRPC_EVENTS.includes(event)) on.add(event);
    else found.push(unknownEvent(at.field('grpcRetryEvents').index(i), event, GRPC_EVENTS));
  });
  if (maxRetries !== undefined && (maxRetries < 1 || maxRetries > MAX_RETRIES)) {
    const reason = `must be 1 to ${MAX_RETRIES}: requests that no server has processed are retried in any case; got ${maxRetries}`;
    found.push(at.field('maxRetries').violation(reason, 'out-of-range'));
  }
  if (perRetryTimeout && toMilliseconds(perRetryTimeout) > MAX_DURATION)
    found.push(at.field('perRetryTimeout').violation(TOO_LONG, 'out-of-range'));
  if (on.size + statuses.size === 0) return undefined;
  return {
    ...(maxRetries === undefined ? {} : { attempts: maxRetries }),
    ...(perRetryTimeout && { perTryTimeout: gatewayDuration(perRetryTimeout) }),
    ...(on.size > 0 && { on: [...on] }),
    ...(statuses.size > 0 && { statuses: [...statuses].sort((a, b) => a - b) }),
  };
}

const unknownEvent = (at: FieldPath, event: string, known: readonly string[]): Violation =>
  at.violation(`must be one of ${known.join(', ')}; got "${event}"`, 'not-one-of');
