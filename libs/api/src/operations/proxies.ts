import { Type } from 'typebox';
import { operation } from '../operation';
import { OffsetPage, TextParameter } from '../parameters';
import { component, Count, Flag, Page, strict, Text, Time, type Value } from '../schema';

const Revision = Type.Integer({ minimum: -1, description: 'Of the log; -1: not known.' });

/** State of one type of resources at a proxy. */
const ProxyType = Type.Object(
  {
    type: Text,
    subscribed: Count,
    held: Count,
    ackedRevision: Revision,
    responses: Type.Object({ sent: Count, acked: Count, rejected: Count }, strict),
  },
  component('ProxyType', { description: 'What a proxy has of one type of resources.', ...strict }),
);

/** A resource that a proxy lacks, and why. */
export const ProxyFault = Type.Object(
  { type: Text, name: Text, version: Type.Optional(Text), reason: Text, time: Type.Optional(Time) },
  component('ProxyFault', { ...strict, description: 'A resource that a proxy lacks, and why.' }),
);
export type ProxyFault = Value<typeof ProxyFault>;

/** A proxy, merged from the reports of the replicas of its zone (docs/reference/proxies.md). */
export const Proxy = Type.Object(
  {
    mesh: Type.String({ description: 'The mesh of its Dataplane; `-` for an ingress.' }),
    namespace: Type.Optional(Text),
    name: Text,
    kind: Type.Enum(['dataplane', 'ingress', 'egress']),
    connected: Flag,
    replica: Text,
    node: Text,
    address: Text,
    userAgent: Text,
    form: Type.Enum(['delta', 'sotw']),
    streams: Count,
    since: Time,
    lastSeen: Time,
    appliedRevision: Revision,
    types: Type.Array(ProxyType),
    certificate: Type.Optional(Type.Object({ spiffeId: Type.Optional(Text), notAfter: Time }, strict)),
    authorities: Type.Optional(
      Type.Array(Text, { description: 'Ids of the authorities in the trust that it has accepted.' }),
    ),
    rejected: Type.Array(ProxyFault),
    refused: Type.Array(ProxyFault, { description: "What breaks Envoy's rules and was not sent." }),
  },
  component('Proxy', { description: 'A proxy, as the replicas of its zone know it.', ...strict }),
);
export type Proxy = Value<typeof Proxy>;

const READS = [400, 403, 404];

/** The proxies of a zone: those whose Dataplanes the caller may list. */
export const listProxies = operation({
  id: 'listProxies',
  method: 'GET',
  path: '/_proxies',
  summary: 'The proxies of this zone, at all replicas',
  access: 'any-right',
  query: {
    mesh: TextParameter("Only proxies of this mesh; `-`: the zone's ingresses."),
    name: TextParameter('Only proxies whose Dataplane has a name that contains this text.'),
    connected: Type.Optional(Type.Boolean({ description: 'Only those that are connected, or are not.' })),
    ...OffsetPage,
  },
  answer: { description: 'A page of the proxies.', schema: Page(Proxy) },
  problems: READS,
});

/** One proxy. */
export const getProxy = operation({
  id: 'getProxy',
  method: 'GET',
  path: '/_proxies/{mesh}/{name}',
  summary: 'One proxy',
  access: 'any-right',
  query: { namespace: TextParameter('The namespace of the Dataplane; "default" when left out.', 63) },
  answer: { description: 'The proxy.', schema: Proxy },
  problems: READS,
});

const Check = Type.Object(
  {
    inbound: Type.Integer({ minimum: 0, description: 'Its place in networking.inbound.' }),
    ready: Flag,
    check: Text,
    reason: Text,
    since: Time,
  },
  strict,
);

/** The lease of an agent on a Dataplane (docs/reference/leases.md). */
export const AgentLease = Type.Object(
  {
    mesh: Text,
    namespace: Text,
    name: Text,
    machine: Text,
    address: Text,
    instance: Text,
    since: Time,
    expiresAt: Time,
    checks: Type.Array(Check),
  },
  component('AgentLease', { description: 'The lease of an agent on a Dataplane.', ...strict }),
);
export type AgentLease = Value<typeof AgentLease>;

/** A held mass end: too many leases end at once, and their Dataplanes are kept until they are released. */
export const LeaseHold = Type.Object(
  { since: Time, expired: Count, total: Count },
  component('LeaseHold', {
    description: 'Too many leases end at once: their Dataplanes are kept until they are released.',
    ...strict,
  }),
);
export type LeaseHold = Value<typeof LeaseHold>;

/** The leases of agents; `hold` if too many end at once. */
export const listLeases = operation({
  id: 'listLeases',
  method: 'GET',
  path: '/_leases',
  summary: 'The leases of agents on Dataplanes of this zone',
  access: { verb: 'list', kinds: ['Dataplane'] },
  query: OffsetPage,
  answer: { description: 'A page of the leases.', schema: Page(AgentLease, { hold: Type.Optional(LeaseHold) }) },
  problems: READS,
});

/** Lets the leader end the leases that have expired so far. */
export const releaseLeases = operation({
  id: 'releaseLeases',
  method: 'POST',
  path: '/_leases/release',
  summary: 'End the leases that have expired until now, although many end at once',
  access: { verb: 'delete', kinds: ['Dataplane'] },
  answer: { description: 'How many have expired.', schema: Type.Object({ released: Count }) },
  problems: READS,
  audit: { kind: 'Dataplane', activity: 'release expired leases of agents' },
});
