import { Type, type Static } from 'typebox';
import { backendPolicy } from './backend-policy';
import { Period, strict } from './schema-parts';
import { unsupportedBy } from './unsupported-fields';

/** Token bucket: a burst of `count`, refilled by `count` after each `per`. */
const Rate = Type.Object(
  { count: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000 })), per: Type.Optional(Period) },
  strict,
);

const Spec = Type.Object(
  {
    /** Requests on HTTP ports; absent fields are 1 and 1s. */
    requests: Type.Optional(Rate),
    /** New connections on any port. */
    connections: Type.Optional(Rate),
  },
  strict,
);
export type RateLimitSpec = Static<typeof Spec>;
export type RequestRate = Static<typeof Rate>;

const KERNEL = 'the plane direct leaves connections to the kernel, which counts nothing';
const FOREIGN = 'proxies of Kuma zones are configured there';

/** Limits the rate that each instance of a service accepts, from all callers. */
export const RateLimitPolicy = backendPolicy({
  kind: 'RateLimitPolicy',
  plural: 'ratelimitpolicies',
  shortName: 'rlp',
  description: 'Answers 429 to what is more than an instance is to take, and closes connections.',
  at: 'server',
  does: 'limits how much each instance takes of what is sent',
  schema: Spec,
  unsupported: unsupportedBy<RateLimitSpec>({
    builtin: [['', 'the builtin proxy passes requests on as bytes, and counts connections by source only', () => true]],
    grpc: [['', 'gRPC servers of Node know no limits', () => true]],
    direct: [['', KERNEL, () => true]],
    'kuma-dp': [['', FOREIGN, () => true]],
  }),
});
