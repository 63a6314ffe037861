import { Type, type Static } from 'typebox';
import { backendPolicy } from './backend-policy';
import { isUnseenByGrpc } from './grpc-headers';
import { Optionals, Period } from './schema-parts';
import { unsupportedBy } from './unsupported-fields';

/** Load balancing algorithms. */
const balancingAlgorithms = ['RoundRobin', 'LeastRequest', 'Random', 'RingHash', 'Maglev'] as const;

const Name = Type.String({
  title: 'a name such as x-user',
  minLength: 1,
  maxLength: 256,
  pattern: "^[A-Za-z0-9!#$%&'*+\\-.^_`|~]+$",
});
const ZoneName = Type.String({
  title: 'the name of a zone',
  minLength: 1,
  maxLength: 253,
  pattern: '^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$',
});
/** Parts of a request that are hashed; an entry that the request lacks is skipped. */
const HashBy = Optionals({
  header: Name,
  cookie: Name,
  /** Lifetime of a generated `cookie`, which a request without one gets with its response; if absent, no cookie is generated. */
  ttl: Period,
  sourceAddress: Type.Literal(true),
  queryParameter: Name,
});

const Spec = Optionals({
  algorithm: Type.Enum([...balancingAlgorithms]),
  /** Hash input of RingHash and Maglev: all entries together select the instance. */
  hash: Type.Array(HashBy, { maxItems: 8 }),
  /** Selection among zones. */
  locality: Optionals({
    /** Weights of zones of one rank, instead of their numbers of instances; 1 for unnamed zones, 0 for never. */
    weights: Type.Record(Type.String(), Type.Integer({ minimum: 0, maximum: 1_000_000 }), {
      maxProperties: 128,
      propertyNames: ZoneName,
    }),
    /** Order of failover; unnamed zones come last, together. */
    failover: Type.Array(ZoneName, { maxItems: 128 }),
    /** False: the caller's zone has no preference. True if absent. */
    localFirst: Type.Boolean(),
  }),
});
export type LoadBalancingSpec = Static<typeof Spec>;
export type HashEntry = Static<typeof HashBy>;

const KERNEL =
  'the plane direct leaves connections to the kernel, which chooses any instance of the zones of the first rank';
const FOREIGN = 'proxies of Kuma zones are configured there';
const hashes = ({ hash = [] }: LoadBalancingSpec): boolean => hash.length > 0;
const isOther =
  (...able: readonly LoadBalancingSpec['algorithm'][]) =>
  ({ algorithm }: LoadBalancingSpec): boolean =>
    algorithm !== undefined && !able.includes(algorithm);

/** Selects the instances and zones of a service that get its traffic. */
export const LoadBalancingPolicy = backendPolicy({
  kind: 'LoadBalancingPolicy',
  plural: 'loadbalancingpolicies',
  shortName: 'lbp',
  description: 'Chooses among instances and zones.',
  at: 'client',
  does: 'chooses among instances and zones for what is sent',
  schema: Spec,
  unsupported: unsupportedBy<LoadBalancingSpec>({
    builtin: [
      [
        '/algorithm',
        'the builtin proxy takes the one of two instances with fewer connections',
        isOther('LeastRequest'),
      ],
      ['/hash', 'the builtin proxy passes requests on as bytes', hashes],
    ],
    grpc: [
      ['/algorithm', 'gRPC clients of Node know RoundRobin and RingHash only', isOther('RoundRobin', 'RingHash')],
      [
        '/hash',
        'gRPC clients hash headers only (gRPC proposal A42)',
        ({ hash = [] }) =>
          hash.some(({ cookie, sourceAddress, queryParameter }) => cookie ?? sourceAddress ?? queryParameter),
      ],
      [
        '/hash',
        'gRPC clients do not see headers such as user-agent, grpc-… and …-bin',
        ({ hash = [] }) => hash.some(({ header }) => header !== undefined && isUnseenByGrpc(header)),
      ],
    ],
    direct: [
      ['/algorithm', KERNEL, isOther('Random')],
      ['/hash', KERNEL, hashes],
    ],
    'kuma-dp': [['', FOREIGN, () => true]],
  }),
});
