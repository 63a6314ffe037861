import { OFFSET_PAGE_PARAMETERS, PROXIES_PARAMETERS, PROXY_PARAMETERS } from '../requests/query-parameters';
import { MESH, NAME, queryParameters } from './parameters';
import {
  flag,
  integer,
  jsonContent,
  list,
  object,
  page,
  problemResponses,
  schema,
  text,
  time,
  type OpenApiObject,
} from './schema-parts';

const fault = object({ type: text, name: text, version: text, reason: text, time }, ['type', 'name', 'reason'], {
  additionalProperties: false,
});
const count: OpenApiObject = { ...integer, minimum: 0 };
const revision: OpenApiObject = { ...integer, minimum: -1, description: 'Of the log; -1: not known.' };

/** Schemas of proxies. */
export const PROXY_SCHEMAS: OpenApiObject = {
  ProxyType: object(
    {
      type: text,
      subscribed: count,
      held: count,
      ackedRevision: revision,
      responses: object({ sent: count, acked: count, rejected: count }, ['sent', 'acked', 'rejected'], {
        additionalProperties: false,
      }),
    },
    ['type', 'subscribed', 'held', 'ackedRevision', 'responses'],
    { description: 'What a proxy has of one type of resources.', additionalProperties: false },
  ),
  ProxyFault: { ...fault, description: 'A resource that a proxy lacks, and why.' },
  Proxy: object(
    {
      mesh: { ...text, description: 'The mesh of its Dataplane; `-` for an ingress.' },
      namespace: text,
      name: text,
      kind: { enum: ['dataplane', 'ingress', 'egress'] },
      connected: flag,
      replica: text,
      node: text,
      address: text,
      userAgent: text,
      form: { enum: ['delta', 'sotw'] },
      streams: count,
      since: time,
      lastSeen: time,
      appliedRevision: revision,
      types: list(schema('ProxyType')),
      certificate: object({ spiffeId: text, notAfter: time }, ['notAfter'], { additionalProperties: false }),
      authorities: { ...list(text), description: 'Ids of the authorities in the trust that it has accepted.' },
      rejected: list(schema('ProxyFault')),
      refused: { ...list(schema('ProxyFault')), description: "What breaks Envoy's rules and was not sent." },
    },
    [
      'mesh',
      'name',
      'kind',
      'connected',
      'replica',
      'node',
      'address',
      'userAgent',
      'form',
      'streams',
      'since',
      'lastSeen',
      'appliedRevision',
      'types',
      'rejected',
      'refused',
    ],
    { description: 'A proxy, as the replicas of its zone know it.', additionalProperties: false },
  ),
  AgentLease: object(
    {
      mesh: text,
      namespace: text,
      name: text,
      machine: text,
      address: text,
      instance: text,
      since: time,
      expiresAt: time,
      checks: list(
        object(
          {
            inbound: { ...count, description: 'Its place in networking.inbound.' },
            ready: flag,
            check: text,
            reason: text,
            since: time,
          },
          ['inbound', 'ready', 'check', 'reason', 'since'],
          { additionalProperties: false },
        ),
      ),
    },
    ['mesh', 'namespace', 'name', 'machine', 'address', 'instance', 'since', 'expiresAt', 'checks'],
    { description: 'The lease of an agent on a Dataplane.', additionalProperties: false },
  ),
  LeaseHold: object({ since: time, expired: count, total: count }, ['since', 'expired', 'total'], {
    description: 'Too many leases end at once: their Dataplanes are kept until they are released.',
    additionalProperties: false,
  }),
};

/** The proxies of a zone. */
export function proxiesPaths(): OpenApiObject {
  return {
    '/_proxies': {
      get: {
        operationId: 'listProxies',
        tags: ['Server'],
        summary: 'The proxies of this zone, at all replicas',
        parameters: queryParameters(PROXIES_PARAMETERS),
        responses: {
          200: jsonContent('A page of the proxies.', page(schema('Proxy'))),
          ...problemResponses(400, 403, 404),
        },
      },
    },
    '/_proxies/{mesh}/{name}': {
      get: {
        operationId: 'getProxy',
        tags: ['Server'],
        summary: 'One proxy',
        parameters: [MESH, NAME, ...queryParameters(PROXY_PARAMETERS)],
        responses: { 200: jsonContent('The proxy.', schema('Proxy')), ...problemResponses(400, 403, 404) },
      },
    },
    '/_leases': {
      get: {
        operationId: 'listLeases',
        tags: ['Server'],
        summary: 'The leases of agents on Dataplanes of this zone',
        parameters: queryParameters(OFFSET_PAGE_PARAMETERS),
        responses: {
          200: jsonContent('A page of the leases.', page(schema('AgentLease'), { hold: schema('LeaseHold') })),
          ...problemResponses(400, 403, 404),
        },
      },
    },
    '/_leases/release': {
      post: {
        operationId: 'releaseLeases',
        tags: ['Server'],
        summary: 'End the leases that have expired until now, although many end at once',
        responses: {
          200: jsonContent('How many have expired.', object({ released: count }, ['released'])),
          ...problemResponses(400, 403, 404),
        },
      },
    },
  };
}
