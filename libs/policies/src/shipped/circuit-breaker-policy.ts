import { Type, type Static } from 'typebox';
import { backendPolicy } from './backend-policy';
import { Optionals, Period } from './schema-parts';
import { unsupportedBy } from './unsupported-fields';

const Limit = Type.Integer({ minimum: 1, maximum: 1_000_000 });
const Errors = Type.Integer({ minimum: 1, maximum: 1_000 });

const Spec = Optionals({
  /** Of each proxy that calls, over all instances; what is more is refused at once. Without a limit where one is absent. */
  limits: Optionals({
    connections: Limit,
    /** Requests that wait for a connection. */
    pendingRequests: Limit,
    /** Requests under way. */
    requests: Limit,
    /** Repetitions under way. */
    retries: Limit,
  }),
  /** Condition for excluding an instance for some time. */
  ejection: Optionals({
    /** Answers of 5xx, or failures to connect, in a row; 5 where it is absent. */
    consecutiveErrors: Errors,
    /** Answers of 502, 503 and 504 in a row; not looked at where it is absent. */
    consecutiveGatewayErrors: Errors,
    /** Interval at which ended ejections are looked for; 10s if absent. */
    interval: Period,
    /** The first ejection; the n-th lasts n times as long, at most 5m or the first. 30s where it is absent. */
    time: Period,
    /** Maximum share of excluded instances, in percent; 50 if absent. */
    maxPercent: Type.Integer({ minimum: 0, maximum: 100 }),
  }),
});
export type CircuitBreakerSpec = Static<typeof Spec>;

const KERNEL = 'connections are led in the kernel, which counts nothing';
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
