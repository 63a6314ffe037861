import { Type } from 'typebox';
import { operation } from '../operation';
import { Freshness, TextParameter, WordParameter, ZoneOfView } from '../parameters';
import { AnyObject, component, Integer, Text, type Value } from '../schema';
import { AccessVerdict } from '../schemas/access-verdict';
import { BackendName, Named } from '../schemas/named';
import { RequestQuestion } from '../schemas/request-question';

const Destination = Type.Object({ services: Type.Array(Named), port: Integer });
const Changes = Type.Optional(Type.Array(AnyObject));

const Share = Type.Object({
  weight: Integer,
  total: Integer,
  destination: Type.Optional(Destination),
  status: Type.Optional(Integer),
  grpcStatus: Type.Optional(Integer),
  reason: Type.Optional(Text),
  request: Type.Optional(AnyObject),
  responseHeaders: Changes,
});

/** Effect of the policies of a kind on a rule, or on a backend. */
export const ShapedBy = Type.Object(
  {
    kind: Text,
    backend: Type.Optional(BackendName),
    effective: AnyObject,
    fields: Type.Array(Type.Object({ field: Text, policy: Text, strategy: Text })),
  },
  { description: 'What policies of a kind make of the rule, or of a backend, and whose each value is.' },
);
export type ShapedBy = Value<typeof ShapedBy>;

/** Evaluation of a request, and why every other rule lost. */
export const RequestAnswer = Type.Object(
  {
    mesh: Text,
    zone: Text,
    steps: Type.Array(Text),
    to: Type.Optional(Type.Object({ service: Named, port: Integer, virtualIps: Type.Array(Text) })),
    outcome: Type.Enum(['direct', 'implicit', 'redirected', 'refused', 'routed']),
    dataplane: Type.Optional(Named),
    decision: Type.Optional(
      Type.Object({
        group: Text,
        kind: Text,
        route: Type.Optional(Named),
        rule: Type.Optional(Text),
        match: Type.Optional(Text),
        filters: Changes,
      }),
    ),
    shares: Type.Optional(Type.Array(Share)),
    mirrors: Type.Optional(
      Type.Array(
        Type.Object({
          share: Type.Number(),
          destination: Type.Optional(Destination),
          reason: Type.Optional(Text),
        }),
      ),
    ),
    status: Type.Optional(Integer),
    grpcStatus: Type.Optional(Integer),
    reason: Type.Optional(Text),
    location: Type.Optional(Text),
    responseHeaders: Changes,
    requestTimeout: Type.Optional(Integer),
    backendTimeout: Type.Optional(Integer),
    policies: Type.Optional(Type.Array(ShapedBy)),
    access: Type.Optional(Type.Array(AccessVerdict)),
    lost: Type.Array(Type.Object({ route: Text, rule: Text, match: Text, reason: Text })),
    lostTotal: Integer,
    notes: Type.Array(Text),
  },
  component('RequestAnswer', {
    description:
      'What happens to a request. implicit: no route holds, the service itself answers; direct: the address of a Dataplane, where routes do not count. A share is weight of total of equal requests; time-outs are in milliseconds; lost names the first 256 matches that did not decide.',
  }),
);
export type RequestAnswer = Value<typeof RequestAnswer>;

const Rule = Type.Object({
  route: Named,
  rule: Text,
  match: Text,
  action: Type.Enum(['refused', 'redirect', 'forward']),
  reason: Type.Optional(Text),
  backends: Type.Optional(Type.Array(Type.Object({ weight: Integer, total: Integer, to: Text }))),
});

/** The merged routes of a service by port and group. */
export const ServiceRoutes = Type.Object(
  {
    mesh: Text,
    zone: Text,
    service: Named,
    tables: Type.Array(
      Type.Object({ port: Integer, group: Text, kind: Text, rules: Type.Array(Rule), total: Integer }),
    ),
    total: Integer,
  },
  component('ServiceRoutes', {
    description:
      'The merged routes of a service by port and group, the stronger match first: the first 64 tables and 1,024 matches; total counts all.',
  }),
);
export type ServiceRoutes = Value<typeof ServiceRoutes>;

/** The way of a request from its host to the shares of its backends, and why every other rule lost. */
export const explainRequest = operation({
  id: 'explainRequest',
  method: 'POST',
  path: '/meshes/{mesh}/_explain',
  summary: 'What happens to a request, and why every other rule lost',
  grpc: 'RoutingService.ExplainRequest',
  access: 'any-right',
  query: ZoneOfView,
  body: {
    schema: RequestQuestion,
    example: {
      from: { namespace: 'default' },
      to: 'http://example:6379/',
      service: { name: 'example' },
      method: 'GET',
    },
  },
  answer: { description: 'From the host to the shares.', schema: RequestAnswer },
  problems: [400, 403, 404, 413, 415, 422],
  audit: 'reads',
});

/** The merged routes of a service by port and group, the stronger match first (seed GEP-1426). */
export const listRoutesOfService = operation({
  id: 'listRoutesOfService',
  method: 'GET',
  path: '/meshes/{mesh}/_routes',
  summary: 'The merged routes of a service',
  grpc: 'RoutingService.ListRoutes',
  access: 'any-right',
  query: {
    service: Type.String({ description: 'The name of the service.', minLength: 1, maxLength: 253, example: 'example' }),
    kind: WordParameter(['MeshService', 'MeshMultiZoneService'], 'Its kind; MeshService where absent.'),
    namespace: TextParameter('Its namespace; "default" where absent.'),
    port: Type.Optional(Type.Integer({ description: 'Only this port.', minimum: 1, maximum: 65_535 })),
    client: TextParameter('Only what decides for clients of this namespace.'),
    ...ZoneOfView,
    ...Freshness,
  },
  answer: { description: 'By port and group.', schema: ServiceRoutes },
  problems: [400, 403, 404, 422],
});
