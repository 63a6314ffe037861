import { Type, type Static } from 'typebox';
import { rulePolicy } from './rule-policy';
import { Duration, Optionals } from './schema-parts';
import { unsupportedForRequests } from './unsupported-fields';

/** Conditions for a retry, besides requests that no server has begun. */
const retryConditions = [
  '5xx',
  'gateway-error',
  'connect-failure',
  'reset',
  'retriable-4xx',
  'refused-stream',
  'cancelled',
  'deadline-exceeded',
  'resource-exhausted',
  'unavailable',
  'internal',
] as const;
/** Conditions that check the gRPC status. */
const GRPC_CONDITIONS: readonly string[] = [
  'cancelled',
  'deadline-exceeded',
  'resource-exhausted',
  'unavailable',
  'internal',
];
/** gRPC clients make 5 attempts at most (gRPC proposal A6). */
const MAX_GRPC_RETRIES = 4;

const Spec = Optionals({
  /** Maximum number of retries, for any reason; 4 if absent. */
  attempts: Type.Integer({ minimum: 1, maximum: 10 }),
  /** Timeout of one attempt; has precedence over `backendRequest` of a TimeoutPolicy. 0s is unlimited. */
  perTryTimeout: Duration,
  /** Random wait before a retry: at most `base` before the first, doubled each time, never more than `max`. */
  backoff: Optionals({ base: Duration, max: Duration }),
  on: Type.Array(Type.Enum([...retryConditions]), { maxItems: retryConditions.length }),
  /** HTTP statuses that are retried. */
  statuses: Type.Array(Type.Integer({ minimum: 400, maximum: 599 }), { maxItems: 32 }),
});
export type RetrySpec = Static<typeof Spec>;

const others = ({ on = [] }: RetrySpec): string => on.filter((each) => !GRPC_CONDITIONS.includes(each)).join(', ');

/** Selects which requests are retried, and how often. Requests that no server has started are always retried. */
export const RetryPolicy = rulePolicy({
  kind: 'RetryPolicy',
  plural: 'retrypolicies',
  shortName: 'rtp',
  description: 'Repeats requests that fail, on another instance where there is one.',
  does: 'repeats requests',
  schema: Spec,
  unsupported: unsupportedForRequests<RetrySpec>({
    grpc: [
      [
        '/on',
        (spec) => `gRPC clients repeat by the status of the call only, not on ${others(spec)}`,
        (spec) => others(spec) !== '',
      ],
      ['/statuses', 'gRPC clients see no status of HTTP', ({ statuses = [] }) => statuses.length > 0],
      ['/perTryTimeout', 'gRPC clients limit the whole call only', ({ perTryTimeout }) => perTryTimeout !== undefined],
      [
        '/attempts',
        `gRPC clients repeat at most ${MAX_GRPC_RETRIES} times`,
        ({ attempts = 0 }) => attempts > MAX_GRPC_RETRIES,
      ],
    ],
  }),
});
