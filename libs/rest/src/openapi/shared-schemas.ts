import {
  flag,
  integer,
  list,
  namedMesh,
  object,
  page,
  schema,
  text,
  textMap,
  time,
  type OpenApiObject,
} from './schema-parts';

const serviceRef = object({ kind: text, mesh: text, zone: text, namespace: text, name: text }, [
  'kind',
  'mesh',
  'name',
]);

/** Schemas that belong to no kind. */
export const SHARED_SCHEMAS: OpenApiObject = {
  Problem: object(
    {
      type: text,
      title: text,
      status: integer,
      detail: text,
      instance: text,
      invalid_parameters: list(schema('Violation')),
    },
    ['type', 'title', 'status', 'detail', 'instance'],
    { description: 'Why a request failed (RFC 9457).', additionalProperties: false },
  ),
  Violation: object(
    {
      field: text,
      reason: text,
      rule: { ...text, description: 'Which rule is broken, for programs: required, wrong-type, too-many, ...' },
    },
    ['field', 'reason', 'rule'],
    { additionalProperties: false },
  ),
  Written: object({ warnings: list(text) }, [], {
    description: 'Empty, or what is legal and probably not meant.',
    additionalProperties: false,
  }),
  KubernetesForm: object(
    {
      apiVersion: text,
      kind: text,
      metadata: object({ name: text, namespace: text, labels: textMap }, ['name']),
      spec: { type: 'object' },
      status: { type: 'object' },
    },
    ['apiVersion', 'kind', 'metadata'],
  ),
  Overview: object(
    { type: text, mesh: text, namespace: text, name: text, labels: textMap, uid: text, generation: integer, kri: text },
    ['type', 'name'],
    { description: 'A resource and, under `<kind>Insight`, what is known of it beside the log.' },
  ),
  KindDescription: object(
    {
      name: text,
      scope: { enum: ['Mesh', 'Global'] },
      namespaced: flag,
      path: text,
      shortName: text,
      singularDisplayName: text,
      pluralDisplayName: text,
      readOnly: flag,
      writtenOn: list({ enum: ['global', 'zone'] }),
      includeInFederation: flag,
      confidential: flag,
    },
    ['name', 'scope', 'path', 'readOnly'],
  ),
  HostnameClaim: object(
    {
      rank: integer,
      service: serviceRef,
      generator: object({ name: text, zone: text }, ['name']),
      status: { enum: ['Available', 'NotAvailable'] },
      rule: text,
      reason: text,
      change: text,
    },
    ['service', 'generator', 'status'],
    {
      description:
        'One HostnameGenerator that wants the hostname for one service. Of a loser: the rule that decided, the reason it shows, and what would have to change. In a list of hostnames the global knows only what zones reported of their own services: no rank, no rule.',
    },
  ),
  HostnameEntry: object(
    { hostname: text, winner: schema('HostnameClaim'), claims: list(schema('HostnameClaim')) },
    ['hostname', 'claims'],
    { description: 'A hostname and all claims on it; on the global without a winner, since each zone decides.' },
  ),
  HostnameExplanation: object(
    {
      hostname: text,
      mesh: text,
      zone: text,
      winner: schema('HostnameClaim'),
      claims: list(schema('HostnameClaim')),
      hints: list(text),
      note: text,
    },
    ['hostname', 'mesh', 'zone', 'claims', 'hints'],
    {
      description:
        'Who claims a hostname in one zone; hints say what would have to be there when nobody does. The global computes it from what it holds; note says in what the zone may decide otherwise.',
    },
  ),
  ResolvedHostname: object(
    {
      hostname: text,
      zone: text,
      service: serviceRef,
      virtualIps: list(text),
      ports: list(object({ port: integer, name: text, appProtocol: text }, ['port', 'name', 'appProtocol'])),
      endpoints: list(
        object({ address: text, port: integer, servicePort: integer, ready: flag, dataplane: serviceRef }, [
          'address',
          'port',
          'ready',
        ]),
      ),
    },
    ['hostname', 'zone', 'service', 'virtualIps', 'ports', 'endpoints'],
    {
      description:
        'What a hostname means in a zone. Endpoints are those that this control plane knows, the first 1,000; virtualIps is empty while the service has none.',
    },
  ),
  HostnamesOfService: object(
    {
      total: integer,
      items: list(object({ hostname: text, zones: list(object({ name: text }, ['name'])) }, ['hostname'])),
    },
    ['total', 'items'],
  ),
  DataplanesOfService: page(
    object({ type: text, mesh: text, namespace: text, name: text, labels: textMap }, ['type', 'name']),
  ),
  HostnameQuestion: object({ hostname: { type: 'string', minLength: 1 }, mesh: namedMesh }, ['hostname'], {
    additionalProperties: false,
  }),
  WatchEvent: object(
    { event: { enum: ['put', 'delete', 'bookmark', 'relist', 'error'] }, id: text, data: text },
    ['event', 'data'],
    {
      description:
        'With watch=true. put: a resource as it is now; delete: the identity of one that went; bookmark: the revision sent so far; relist: list again; error: a problem document, the caller may not watch any more. Only a bookmark has an id, for Last-Event-ID.',
    },
  ),
  Root: object(
    {
      product: text,
      version: text,
      mode: { enum: ['global', 'zone'] },
      zone: text,
      instanceId: text,
      revision: integer,
      startedAt: time,
    },
    ['product', 'version', 'mode', 'instanceId'],
  ),
  Caller: object(
    {
      name: text,
      groups: list(text),
      by: { enum: ['user-token', 'oidc', 'operator-token', 'local-socket', 'nothing'] },
      roles: list(
        object({ role: text, binding: text, effect: { enum: ['grants', 'restricts'] } }, ['role', 'binding', 'effect']),
      ),
    },
    ['name', 'groups', 'by', 'roles'],
  ),
};
