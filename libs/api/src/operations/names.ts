import { Type } from 'typebox';
import type { Kind } from '@causeway/resources';
import { kindOperation, operation } from '../operation';
import { addressParameters, Freshness, OffsetPage, TextParameter, ZoneOfView } from '../parameters';
import { component, Flag, Integer, NamedMesh, Page, strict, Text, TextMap, type Value } from '../schema';
import { ServiceName } from '../schemas/named';

/** Kinds whose resources have hostnames and virtual IPs. */
export const KINDS_WITH_HOSTNAMES: readonly string[] = ['MeshService', 'MeshMultiZoneService', 'MeshExternalService'];

/** One HostnameGenerator that claims a hostname for one service. */
export const HostnameClaim = Type.Object(
  {
    rank: Type.Optional(Integer),
    service: ServiceName,
    generator: Type.Object({ name: Text, zone: Type.Optional(Text) }),
    status: Type.Enum(['Available', 'NotAvailable']),
    rule: Type.Optional(Text),
    reason: Type.Optional(Text),
    change: Type.Optional(Text),
  },
  component('HostnameClaim', {
    description:
      'One HostnameGenerator that wants the hostname for one service. Of a loser: the rule that decided, the reason it shows, and what would have to change. In a list of hostnames the global knows only what zones reported of their own services: no rank, no rule.',
  }),
);
export type HostnameClaim = Value<typeof HostnameClaim>;

/** A hostname and all claims on it. */
export const HostnameEntry = Type.Object(
  { hostname: Text, winner: Type.Optional(HostnameClaim), claims: Type.Array(HostnameClaim) },
  component('HostnameEntry', {
    description: 'A hostname and all claims on it; on the global without a winner, since each zone decides.',
  }),
);
export type HostnameEntry = Value<typeof HostnameEntry>;

/** Claims on a hostname in one zone, with the winner and the rule by which it wins. */
export const HostnameExplanation = Type.Object(
  {
    hostname: Text,
    mesh: Text,
    zone: Text,
    winner: Type.Optional(HostnameClaim),
    claims: Type.Array(HostnameClaim),
    hints: Type.Array(Text),
    note: Type.Optional(Text),
  },
  component('HostnameExplanation', {
    description:
      'Who claims a hostname in one zone; hints say what would have to be there when nobody does. The global computes it from what it holds; note says in what the zone may decide otherwise.',
  }),
);
export type HostnameExplanation = Value<typeof HostnameExplanation>;

const Endpoint = Type.Object({
  address: Text,
  port: Integer,
  servicePort: Type.Optional(Integer),
  ready: Flag,
  dataplane: Type.Optional(ServiceName),
});

/** The service that has a hostname, its virtual IPs and the zones that serve it. */
export const ResolvedHostname = Type.Object(
  {
    hostname: Text,
    zone: Text,
    service: ServiceName,
    virtualIps: Type.Array(Text),
    ports: Type.Array(Type.Object({ port: Integer, name: Text, appProtocol: Text })),
    endpoints: Type.Array(Endpoint),
  },
  component('ResolvedHostname', {
    description:
      'What a hostname means in a zone. Endpoints are those that this control plane knows, the first 1,000; virtualIps is empty while the service has none.',
  }),
);
export type ResolvedHostname = Value<typeof ResolvedHostname>;

/** The hostnames that a service has. */
const HostnamesOfService = Type.Object(
  {
    total: Integer,
    items: Type.Array(Type.Object({ hostname: Text, zones: Type.Optional(Type.Array(Type.Object({ name: Text }))) })),
  },
  component('HostnamesOfService'),
);

/** The table of all hostnames of a mesh. */
export const listHostnames = operation({
  id: 'listHostnames',
  method: 'GET',
  path: '/meshes/{mesh}/hostnames',
  summary: 'Every hostname of a mesh and who claims it',
  access: { verb: 'list', kinds: KINDS_WITH_HOSTNAMES },
  query: {
    name: TextParameter('Only hostnames that contain this text.'),
    zone: TextParameter(
      'The zone whose view is asked for; absent on the global: as each zone reported its own services.',
    ),
    ...OffsetPage,
    ...Freshness,
  },
  answer: { description: 'The answer.', schema: Page(HostnameEntry) },
  problems: [400, 404, 422],
});

/** The answer of the zone's DNS server to a question, and the reason. */
export const DnsLookup = Type.Object(
  {
    name: Text,
    type: Text,
    zone: Text,
    result: Text,
    authoritative: Flag,
    suffix: Type.Optional(Text),
    reason: Text,
    answers: Type.Array(Type.Object({ name: Text, type: Text, ttl: Integer, data: Text })),
    holders: Type.Array(
      Type.Object({ ...ServiceName.properties, vip: Text, generators: Type.Array(Text), answers: Flag }),
    ),
    upstreams: Type.Optional(Type.Array(Text)),
  },
  component('DnsLookup', {
    description:
      'result is the name of a DNS response code, or FORWARDED if a resolver of upstreams would be asked. holders are the services that hold the hostname; the one with answers: true is in the answer. suffix is the suffix of this server that the name is below.',
  }),
);
export type DnsLookup = Value<typeof DnsLookup>;

/** The answer of the zone's DNS server, and the reason. */
export const lookUpName = operation({
  id: 'lookUpName',
  method: 'GET',
  path: '/_dns/lookup',
  summary: "What the zone's DNS would answer to a name, and why",
  access: { verb: 'list', kinds: KINDS_WITH_HOSTNAMES },
  query: {
    name: Type.String({
      description: 'The name to look up.',
      minLength: 1,
      maxLength: 255,
      example: 'redis.svc.mesh.local',
    }),
    type: TextParameter('The type of record; A where absent.', 10),
    ...Freshness,
  },
  answer: { description: 'The answer.', schema: DnsLookup },
  problems: [400, 404],
});

const HostnameQuestion = Type.Object(
  { hostname: Type.String({ minLength: 1 }), mesh: Type.Optional(NamedMesh) },
  component('HostnameQuestion', strict),
);

/** Fields of both questions about one hostname. It is in the body, so that no request log contains it. */
const QUESTION = {
  method: 'POST',
  access: 'any-right',
  query: ZoneOfView,
  body: { schema: HostnameQuestion, example: { hostname: 'redis.svc.mesh.local', mesh: 'default' } },
  problems: [400, 403, 404, 413, 415, 422],
  audit: 'reads',
} as const;

/** Claims on a hostname, with the winner and the rule by which it wins. */
export const explainHostname = operation({
  ...QUESTION,
  id: 'explainHostname',
  grpc: 'NamingService.Explain',
  path: '/_explain/hostname',
  summary: 'Who claims a hostname, who wins, and by which rule',
  answer: { description: 'Every claim, strongest first.', schema: HostnameExplanation },
});

/** The service that has a hostname, its virtual IPs and the zones that serve it. */
export const resolveHostname = operation({
  ...QUESTION,
  id: 'resolveHostname',
  grpc: 'NamingService.Resolve',
  path: '/_resolve/hostname',
  summary: 'The service that has a hostname, its virtual IPs and where it runs',
  answer: { description: 'The service.', schema: ResolvedHostname },
});

/** The Dataplanes that a service selects. */
const DataplanesOfService = Page(
  Type.Object({
    type: Text,
    mesh: Type.Optional(Text),
    namespace: Type.Optional(Text),
    name: Text,
    labels: Type.Optional(TextMap),
  }),
  {},
  component('DataplanesOfService'),
);

const isMeshService = ({ name }: Kind): boolean => name === 'MeshService';

/** The hostnames that a service has. All kinds with hostnames have this operation; the document shows MeshServices. */
export const listServiceHostnames = kindOperation({
  method: 'GET',
  path: '/meshes/{mesh}/{plural}/{name}/_hostnames',
  access: 'any-right',
  kinds: isMeshService,
  of: ({ kind }) => ({
    id: `listHostnamesOf${kind.name}`,
    summary: 'The hostnames that a service holds',
  }),
  answer: { description: 'The answer.', schema: HostnamesOfService },
  query: (kind) => ({ ...addressParameters(kind), ...Freshness }),
  problems: [400, 404],
});

/** The Dataplanes that a MeshService selects. */
export const listServiceDataplanes = kindOperation({
  method: 'GET',
  path: '/meshes/{mesh}/meshservices/{name}/_dataplanes',
  aliases: ['/meshes/{mesh}/meshservices/{name}/_resources/dataplanes'],
  access: 'any-right',
  kinds: isMeshService,
  of: ({ kind }) => ({
    id: `listDataplanesOf${kind.name}`,
    summary: 'The Dataplanes that a service selects',
  }),
  answer: { description: 'The answer.', schema: DataplanesOfService },
  query: (kind) => ({ ...addressParameters(kind), ...Freshness, ...OffsetPage }),
  problems: [400, 404],
});
