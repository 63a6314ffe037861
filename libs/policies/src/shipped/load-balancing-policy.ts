import { Type, type Static } from 'typebox';
import { backendPolicy } from './backend-policy';
import { isUnseenByGrpc } from './grpc-headers';
import { Optionals, Period } from './schema-parts';
import { unsupportedBy } from './unsupported-fields';

/** Algorithms to choose one of several instances. */
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
/** Parts of a request that are hashed; an entry that a request does not have is skipped. */
const HashBy = Optionals({
  header: Name,
  cookie: Name,
  /** Of `cookie`: a request without one gets it with the answer, and keeps it so long; without it only what is there counts. */
  ttl: Period,
  sourceAddress: Type.Literal(true),
  queryParameter: Name,
});

const Spec = Optionals({
  algorithm: Type.Enum([...balancingAlgorithms]),
  /** For RingHash and Maglev: all entries together say which instance it is. */
  hash: Type.Array(HashBy, { maxItems: 8 }),
  /** Which zones serve. */
  locality: Optionals({
    /** Of zones of one rank, in place of their instances; 1 for zones that are not named, 0: never. */
    weights: Type.Record(Type.String(), Type.Integer({ minimum: 0, maximum: 1_000_000 }), {
      maxProperties: 128,
      propertyNames: ZoneName,
    }),
    /** Which zone takes over first, and then; zones that are not named come after all that are, together. */
    failover: Type.Array(ZoneName, { maxItems: 128 }),
    /** False: the zone of the caller is as any other. True where it is absent. */
    localFirst: Type.Boolean(),
  }),
});
export type LoadBalancingSpec = Static<typeof Spec>;
export type HashEntry = Static<typeof HashBy>;

const KERNEL = 'connections are led in the kernel, to any instance of the first rank of zones';
const FOREIGN = 'proxies of Kuma zones are configured there';
const hashes = ({ hash = [] }: LoadBalancingSpec): boolean => hash.length > 0;
const isOther =
  (...able: readonly LoadBalancingSpec['algorithm'][]) =>
  ({ algorithm }: LoadBalancingSpec): boolean =>
    algorithm !== undefined && !able.includes(algorithm);

/** Which of a service's instances, and of its zones, get what is sent. */
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
