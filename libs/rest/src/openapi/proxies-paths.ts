import { PROXIES_PARAMETERS, PROXY_PARAMETERS } from '../requests/query-parameters';
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
      ...{ type: text, subscribed: count, held: count, ackedRevision: revision },
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
      ...{
        mesh: { ...text, description: 'The mesh of its Dataplane; `-` for an ingress.' },
        namespace: text,
        name: text,
      },
      kind: { enum: ['dataplane', 'ingress', 'egress'] },
      ...{
        connected: flag,
        replica: text,
        node: text,
        address: text,
        userAgent: text,
        form: { enum: ['delta', 'sotw'] },
      },
      ...{ streams: count, since: time, lastSeen: time, appliedRevision: revision, types: list(schema('ProxyType')) },
      certificate: object({ spiffeId: text, notAfter: time }, ['notAfter'], { additionalProperties: false }),
      authorities: { ...list(text), description: 'Ids of the authorities in the trust that it has accepted.' },
      rejected: list(schema('ProxyFault')),
      refused: { ...list(schema('ProxyFault')), description: "What breaks Envoy's rules and was not sent." },
    },
    [
      ...['mesh', 'name', 'kind', 'connected', 'replica', 'node', 'address', 'userAgent', 'form', 'streams', 'since'],
      ...['lastSeen', 'appliedRevision', 'types', 'rejected', 'refused'],
    ],
    { description: 'A proxy, as the replicas of its zone know it.', additionalProperties: false },
  ),
};

/** The proxies of a zone. */
export function proxiesPaths(): OpenApiObject {
  return {
    '/_proxies': {
      get: {
        ...{ operationId: 'listProxies', tags: ['Server'], summary: 'The proxies of this zone, at all replicas' },
        parameters: queryParameters(PROXIES_PARAMETERS),
        responses: {
          200: jsonContent('A page of the proxies.', page(schema('Proxy'))),
          ...problemResponses(400, 403, 404),
        },
      },
    },
    '/_proxies/{mesh}/{name}': {
      get: {
        ...{ operationId: 'getProxy', tags: ['Server'], summary: 'One proxy' },
        parameters: [MESH, NAME, ...queryParameters(PROXY_PARAMETERS)],
        responses: { 200: jsonContent('The proxy.', schema('Proxy')), ...problemResponses(400, 403, 404) },
      },
    },
  };
}
