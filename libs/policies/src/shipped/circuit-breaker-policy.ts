import { Type, type Static } from 'typebox';
import { backendPolicy } from './backend-policy';
import { Optionals, Period } from './schema-parts';
import { unsupportedBy } from './unsupported-fields';

const Limit = Type.Integer({ minimum: 1, maximum: 1_000_000 });
const Errors = Type.Integer({ minimum: 1, maximum: 1_000 });

const Spec = Optionals({
  /** Limits per calling proxy, over all instances; excess is refused immediately. No limit if absent. */
  limits: Optionals({
    connections: Limit,
    /** Requests that wait for a connection. */
    pendingRequests: Limit,
    /** Active requests. */
    requests: Limit,
    /** Active retries. */
    retries: Limit,
  }),
  /** Condition for excluding an instance for some time. */
  ejection: Optionals({
    /** Consecutive 5xx responses or connection failures; 5 if absent. */
    consecutiveErrors: Errors,
    /** Consecutive 502, 503 and 504 responses; not checked if absent. */
    consecutiveGatewayErrors: Errors,
    /** Interval of the check for ended ejections; 10s if absent. */
    interval: Period,
    /** Duration of the first ejection; the n-th lasts n times as long, at most 5m or this value. 30s if absent. */
    time: Period,
    /** Maximum share of excluded instances, in percent; 50 if absent. */
    maxPercent: Type.Integer({ minimum: 0, maximum: 100 }),
  }),
});
export type CircuitBreakerSpec = Static<typeof Spec>;

const KERNEL = 'the plane direct leaves connections to the kernel, which counts nothing';
const FOREIGN = 'proxies of Kuma zones are configured there';
const BYTES = 'the builtin proxy passes requests on as bytes';
const asks =
  (limit: keyof NonNullable<CircuitBreakerSpec['limits']>) =>
  ({ limits }: CircuitBreakerSpec): boolean =>
    limits?.[limit] !== undefined;
const GRPC_LIMITS = 'gRPC clients count calls only';

/** Limits the load of one caller on a service, and excludes failing instances. */
export const CircuitBreakerPolicy = backendPolicy({
  kind: 'CircuitBreakerPolicy',
  plural: 'circuitbreakerpolicies',
  shortName: 'cbp',
  description: 'Refuses what is more than a limit, and leaves out instances that fail.',
  at: 'client',
  does: 'limits what is sent',
  schema: Spec,
  unsupported: unsupportedBy<CircuitBreakerSpec>({
    builtin: [
      ['/limits/pendingRequests', BYTES, asks('pendingRequests')],
      ['/limits/requests', BYTES, asks('requests')],
      ['/limits/retries', BYTES, asks('retries')],
      ['/ejection', `${BYTES}: it counts failures to connect, no answers`, ({ ejection }) => ejection !== undefined],
    ],
    grpc: [
      ['/limits/connections', GRPC_LIMITS, asks('connections')],
      ['/limits/pendingRequests', GRPC_LIMITS, asks('pendingRequests')],
      ['/limits/retries', GRPC_LIMITS, asks('retries')],
      [
        '/ejection',
        'gRPC clients leave out instances by their share of errors, not by errors in a row (gRPC proposal A50)',
        ({ ejection }) => ejection !== undefined,
      ],
    ],
    direct: [['', KERNEL, () => true]],
    'kuma-dp': [['', FOREIGN, () => true]],
  }),
});
