import { verbs } from '@causeway/kinds';
import { PAGE_SIZE } from '@causeway/queries';
import type { Kind } from '@causeway/resources';
import type { RestQueryParameter } from '../http/query-reader';

/** Makes the parameters of a kind once: they are needed with every request. */
function ofKind(make: (kind: Kind) => readonly RestQueryParameter[]): (kind: Kind) => readonly RestQueryParameter[] {
  const made = new WeakMap<Kind, readonly RestQueryParameter[]>();
  return (kind) => {
    const known = made.get(kind) ?? make(kind);
    made.set(kind, known);
    return known;
  };
}

/** Parameters that narrow a list or a watch of `kind`. */
function selectionParameters(kind: Kind): readonly RestQueryParameter[] {
  return [
    {
      name: 'name',
      description: 'Only resources whose name contains this text.',
      schema: { type: 'string', maxLength: 253 },
    },
    ...(kind.namespaced
      ? [
          {
            name: 'namespace',
            description: 'Only resources of this namespace.',
            schema: { type: 'string', maxLength: 253 },
          },
        ]
      : []),
    {
      name: 'zone',
      description: 'Only resources made in this zone; empty means those made on the global.',
      schema: { type: 'string', maxLength: 253 },
    },
    {
      name: 'filter',
      family: true,
      description:
        'filter[labels.KEY]=value: only resources whose label KEY has exactly this value; for several keys at once.',
      schema: {
        type: 'object',
        patternProperties: { '^labels\\..': { type: 'string', maxLength: 63 } },
        additionalProperties: false,
      },
    },
    {
      name: 'labelSelector',
      description:
        "Only resources whose labels match, in Kubernetes' syntax: a=b, a!=b, a in (b, c), a notin (b), a, !a.",
      schema: { type: 'string', maxLength: 2048 },
    },
  ];
}

/** Parameters that choose a page. */
const PAGE_PARAMETERS: readonly RestQueryParameter[] = [
  {
    name: 'size',
    description: 'Items on a page.',
    schema: { type: 'integer', minimum: 1, maximum: PAGE_SIZE.maximum, default: PAGE_SIZE.default },
  },
  { name: 'offset', description: 'Items to skip.', schema: { type: 'integer', minimum: 0 } },
  {
    name: 'cursor',
    description:
      'Where the page begins, from `next` of the page before; empty begins. Unlike `offset` it stays right while resources come and go.',
    schema: { type: 'string', maxLength: 2048, pattern: '^[A-Za-z0-9_-]*$' },
  },
];

/** Parameters of a page of a list that has no cursor. */
export const OFFSET_PAGE_PARAMETERS: readonly RestQueryParameter[] = PAGE_PARAMETERS.filter(
  ({ name }) => name !== 'cursor',
);

/** The parameter of every read. */
export const FRESHNESS: RestQueryParameter = {
  name: 'minRevision',
  description: 'Wait until this replica has seen this revision (the header Causeway-Revision of a write).',
  schema: { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
};

/** The form of the documents that reads return. */
export const FORMAT: RestQueryParameter = {
  name: 'format',
  description: 'The form of the document.',
  schema: { type: 'string', enum: ['universal', 'k8s', 'kubernetes'], default: 'universal' },
};

const WATCH: readonly RestQueryParameter[] = [
  {
    name: 'watch',
    description: 'Answer with server-sent events instead of a list, and go on.',
    schema: { type: 'boolean', default: false },
  },
  {
    name: 'since',
    description: 'With watch: only what changed after this revision; without it everything comes first.',
    schema: { type: 'string', maxLength: 64, pattern: '^([A-Za-z0-9-]+\\.)?[0-9]{1,16}$' },
  },
];

/** Which resource a name means when several zones or namespaces have it (docs/design.md §1). */
export function addressParameters(kind: Kind): readonly RestQueryParameter[] {
  const namespace: RestQueryParameter = {
    name: 'namespace',
    description: 'The namespace of the resource; "default" when left out.',
    schema: { type: 'string', maxLength: 63 },
  };
  const zone: RestQueryParameter = {
    name: 'zone',
    description: 'The zone where the resource was made; empty means the global. Left out: made on this control plane.',
    schema: { type: 'string', maxLength: 253 },
  };
  return [...(kind.namespaced ? [namespace] : []), ...(kind.sync.zoneInIdentity ? [zone] : [])];
}

/** Parameters of a list of `kind`. */
export const listParameters = ofKind((kind) => [
  ...selectionParameters(kind),
  ...PAGE_PARAMETERS,
  FORMAT,
  FRESHNESS,
  ...WATCH,
]);

/** Parameters of a watch of `kind`. */
export const watchParameters = ofKind((kind) => [...selectionParameters(kind), FRESHNESS, ...WATCH]);

/** Parameters of a GET of one resource of `kind`. */
export const getParameters = ofKind((kind) => [...addressParameters(kind), FORMAT, FRESHNESS]);

/** Parameters of a list of overviews. */
export function overviewParameters(kind: Kind): readonly RestQueryParameter[] {
  return [...selectionParameters(kind), ...PAGE_PARAMETERS, FRESHNESS];
}

const auditFilter = (name: string, description: string): RestQueryParameter => ({
  name,
  description,
  schema: { type: 'string', maxLength: 253 },
});

/** Parameters that choose proxies. */
export const PROXIES_PARAMETERS: readonly RestQueryParameter[] = [
  {
    name: 'mesh',
    description: "Only proxies of this mesh; `-`: the zone's ingresses.",
    schema: { type: 'string', maxLength: 253 },
  },
  {
    name: 'name',
    description: 'Only proxies whose Dataplane has a name that contains this text.',
    schema: { type: 'string', maxLength: 253 },
  },
  { name: 'connected', description: 'Only those that are connected, or are not.', schema: { type: 'boolean' } },
  ...OFFSET_PAGE_PARAMETERS,
];

/** Parameters of one proxy. */
export const PROXY_PARAMETERS: readonly RestQueryParameter[] = [
  {
    name: 'namespace',
    description: 'The namespace of the Dataplane; "default" when left out.',
    schema: { type: 'string', maxLength: 63 },
  },
];

/** Parameters of the audit log. */
export const AUDIT_PARAMETERS: readonly RestQueryParameter[] = [
  auditFilter('user', 'Only what this user did.'),
  auditFilter('verb', 'Only this verb: create, update, delete, ...'),
  auditFilter('kind', 'Only this kind of resource, or of activity (ZoneToken, SyncDecision).'),
  auditFilter('mesh', 'Only resources of this mesh.'),
  auditFilter('name', 'Only resources of exactly this name.'),
  { name: 'result', description: 'Only this result.', schema: { type: 'string', enum: ['done', 'refused'] } },
  { name: 'since', description: 'From this time on.', schema: { type: 'string', format: 'date-time' } },
  { name: 'until', description: 'Before this time.', schema: { type: 'string', format: 'date-time' } },
  ...PAGE_PARAMETERS.filter(({ name }) => name !== 'offset'),
];

const accessPart = (name: string, description: string): RestQueryParameter => ({
  name,
  description,
  schema: { type: 'string', minLength: 1, maxLength: 253 },
});

/** Parameters of the question who may do what. */
export const ACCESS_PARAMETERS: readonly RestQueryParameter[] = [
  accessPart('user', 'The user; left out, with group: the caller itself.'),
  { ...accessPart('group', 'Groups of the user, separated by commas.'), schema: { type: 'string', maxLength: 1_024 } },
  {
    name: 'verb',
    description: 'What is to be done.',
    schema: { type: 'string', enum: [...verbs] },
    required: { example: 'update' },
  },
  { ...accessPart('kind', 'A kind by any of its names, or an activity.'), required: { example: 'MeshService' } },
  accessPart('mesh', 'The mesh; left out: all of them.'),
  accessPart('namespace', 'The namespace; left out: all of them.'),
];

/** The parameter that says whose view of a hostname is asked for. */
export const ZONE_OF_VIEW: RestQueryParameter = {
  name: 'zone',
  description: 'The zone whose view is asked for; required on the global.',
  schema: { type: 'string', maxLength: 253 },
};

/** Parameters of the merged routes of a service. */
export const ROUTES_PARAMETERS: readonly RestQueryParameter[] = [
  {
    name: 'service',
    description: 'The name of the service.',
    schema: { type: 'string', minLength: 1, maxLength: 253 },
    required: { example: 'example' },
  },
  {
    name: 'kind',
    description: 'Its kind; MeshService where absent.',
    schema: { type: 'string', enum: ['MeshService', 'MeshMultiZoneService'] },
  },
  {
    name: 'namespace',
    description: 'Its namespace; "default" where absent.',
    schema: { type: 'string', maxLength: 253 },
  },
  { name: 'port', description: 'Only this port.', schema: { type: 'integer', minimum: 1, maximum: 65_535 } },
  {
    name: 'client',
    description: 'Only what decides for clients of this namespace.',
    schema: { type: 'string', maxLength: 253 },
  },
  ZONE_OF_VIEW,
  FRESHNESS,
];

const POLICY_KIND: RestQueryParameter = {
  name: 'kind',
  description: 'Only policies of this kind.',
  schema: { type: 'string', maxLength: 63 },
};

/** Parameters of the policies that affect something. */
export const AFFECTING_PARAMETERS: readonly RestQueryParameter[] = [
  POLICY_KIND,
  {
    name: 'representation',
    description: 'string: each effective spec also as JSON text.',
    schema: { type: 'string', enum: ['string'] },
  },
  ...OFFSET_PAGE_PARAMETERS,
  FRESHNESS,
];

/** As AFFECTING_PARAMETERS, of an object that is stored nowhere. */
export const VIRTUAL_PARAMETERS: readonly RestQueryParameter[] = [
  {
    name: 'namespace',
    description: 'Its namespace; "default" where absent.',
    schema: { type: 'string', maxLength: 63 },
  },
  ...AFFECTING_PARAMETERS,
];

/** Operation on the policy whose impact is asked for. */
export const IMPACT_OPERATION: RestQueryParameter = {
  name: 'op',
  description: 'What is done to the policy.',
  schema: { type: 'string', enum: ['delete'] },
  required: { example: 'delete' },
};

/** Parameters of the graph of targets. */
export const TOPOLOGY_PARAMETERS: readonly RestQueryParameter[] = [
  {
    name: 'root',
    description: 'Only what stands on the paths of KIND/NAME or KIND/NAMESPACE/NAME.',
    schema: { type: 'string', maxLength: 512 },
  },
  {
    name: 'zone',
    description: 'The zone where the root was made; empty means the global.',
    schema: { type: 'string', maxLength: 253 },
  },
  {
    name: 'format',
    description: 'The form of the answer.',
    schema: { type: 'string', enum: ['json', 'dot'], default: 'json' },
  },
];

/** Parameters of the table of hostnames. */
export const HOSTNAME_PARAMETERS: readonly RestQueryParameter[] = [
  { name: 'name', description: 'Only hostnames that contain this text.', schema: { type: 'string', maxLength: 253 } },
  {
    ...ZONE_OF_VIEW,
    description: 'The zone whose view is asked for; absent on the global: as each zone reported its own services.',
  },
  ...OFFSET_PAGE_PARAMETERS,
  FRESHNESS,
];

/** Parameters of a DNS lookup. */
export const LOOKUP_PARAMETERS: readonly RestQueryParameter[] = [
  {
    name: 'name',
    description: 'The name to look up.',
    schema: { type: 'string', minLength: 1, maxLength: 255 },
    required: { example: 'redis.svc.mesh.local' },
  },
  { name: 'type', description: 'The type of record; A where absent.', schema: { type: 'string', maxLength: 10 } },
  FRESHNESS,
];

const named = (name: string, description: string): RestQueryParameter => ({
  name,
  description,
  schema: { type: 'string', minLength: 1, maxLength: 253 },
});

/** Parameters that choose targets of Prometheus. */
export const TARGETS_PARAMETERS: readonly RestQueryParameter[] = [
  named('mesh', 'Only instances of this mesh.'),
  named('namespace', 'Only instances of this namespace.'),
  named('service', 'Only instances of MeshServices of this name; `causeway-agent`: the agents themselves.'),
  named('port', 'Only the port of this name or number.'),
  FRESHNESS,
];

/** Parameters of the hostnames in the form of /etc/hosts. */
export const HOSTS_PARAMETERS: readonly RestQueryParameter[] = [
  named('mesh', 'The mesh; the one that the control plane expects when left out.'),
  FRESHNESS,
];

/** Of every write. */
export const DRY_RUN: RestQueryParameter = {
  name: 'dryRun',
  description: 'Check everything and write nothing.',
  schema: { type: 'boolean', default: false },
};

const SEEN_FROM: RestQueryParameter = {
  name: 'seenFrom',
  description: 'With dryRun: the zone in which to look at what the write would lead to; needed on the global.',
  schema: { type: 'string', maxLength: 253 },
};

/** Parameters of PUT and PATCH. */
export const writeParameters = ofKind((kind) => [...addressParameters(kind), DRY_RUN, SEEN_FROM]);

const TERMINATE: RestQueryParameter = {
  name: 'terminate',
  description:
    'The Mesh takes no new members from now on, also where it has members and stays: it gets the label causeway.io/terminating.',
  schema: { type: 'boolean', default: false },
};

/** Parameters of a DELETE. */
export const deleteParameters = ofKind((kind) => [
  ...writeParameters(kind),
  ...(kind.name === 'Mesh' ? [TERMINATE] : []),
]);
