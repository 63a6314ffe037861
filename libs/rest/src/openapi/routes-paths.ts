import { RequestQuestionSchema } from '@causeway/queries';
import { BODY_TYPES } from '../http/body-decode';
import { ROUTES_PARAMETERS, ZONE_OF_VIEW } from '../requests/query-parameters';
import { MESH, queryParameters } from './parameters';
import { integer, jsonContent, list, object, problemResponses, schema, text, type OpenApiObject } from './schema-parts';

const named = object({ kind: text, zone: text, namespace: text, name: text }, ['kind', 'zone', 'namespace', 'name']);
const number: OpenApiObject = { type: 'number' };
const anyObject: OpenApiObject = { type: 'object' };
const destination = object({ services: list(named), port: integer }, ['services', 'port']);
const share = object(
  {
    weight: integer,
    total: integer,
    destination,
    status: integer,
    grpcStatus: integer,
    reason: text,
    request: anyObject,
    responseHeaders: list(anyObject),
  },
  ['weight', 'total'],
);
const lost = object({ route: text, rule: text, match: text, reason: text }, ['route', 'rule', 'match', 'reason']);
const rule = object(
  {
    route: named,
    rule: text,
    match: text,
    action: { enum: ['refused', 'redirect', 'forward'] },
    reason: text,
    backends: list(object({ weight: integer, total: integer, to: text }, ['weight', 'total', 'to'])),
  },
  ['route', 'rule', 'match', 'action'],
);
const shapedBy = object(
  {
    kind: text,
    backend: object({ service: named, port: integer }, ['service', 'port']),
    effective: anyObject,
    fields: list(object({ field: text, policy: text, strategy: text }, ['field', 'policy', 'strategy'])),
  },
  ['kind', 'effective', 'fields'],
  { description: 'What policies of a kind make of the rule, or of a backend, and whose each value is.' },
);

const accessVerdict = object(
  {
    backend: object({ service: named, port: integer }, ['service', 'port']),
    verdict: { enum: ['allowed', 'refused', 'unknown'] },
    caller: text,
    by: text,
    policies: list(text),
    message: text,
    instances: integer,
  },
  ['backend', 'verdict', 'policies', 'message'],
  {
    description:
      'Whether AccessPolicies let the caller in at a backend. by: allow/RULE, deny/RULE, allow (no rule of it fits), defaultAccess, path, mtls, identity or revoked; caller: the SPIFFE id that was judged; instances: about how many of them it is said, where they differ.',
  },
);

/** The schemas of questions about routes and of their answers. */
export const ROUTE_SCHEMAS: OpenApiObject = {
  RequestQuestion: RequestQuestionSchema,
  RequestAnswer: object(
    {
      mesh: text,
      zone: text,
      steps: list(text),
      to: object({ service: named, port: integer, virtualIps: list(text) }, ['service', 'port', 'virtualIps']),
      outcome: { enum: ['direct', 'implicit', 'redirected', 'refused', 'routed'] },
      dataplane: named,
      decision: object({ group: text, kind: text, route: named, rule: text, match: text, filters: list(anyObject) }, [
        'group',
        'kind',
      ]),
      shares: list(share),
      mirrors: list(object({ share: number, destination, reason: text }, ['share'])),
      status: integer,
      grpcStatus: integer,
      reason: text,
      location: text,
      responseHeaders: list(anyObject),
      requestTimeout: integer,
      backendTimeout: integer,
      policies: list(shapedBy),
      access: list(accessVerdict),
      lost: list(lost),
      lostTotal: integer,
      notes: list(text),
    },
    ['mesh', 'zone', 'steps', 'outcome', 'lost', 'lostTotal', 'notes'],
    {
      description:
        'What happens to a request. implicit: no route holds, the service itself answers; direct: the address of a Dataplane, where routes do not count. A share is weight of total of equal requests; time-outs are in milliseconds; lost names the first 256 matches that did not decide.',
    },
  ),
  ServiceRoutes: object(
    {
      mesh: text,
      zone: text,
      service: named,
      tables: list(
        object({ port: integer, group: text, kind: text, rules: list(rule), total: integer }, [
          'port',
          'group',
          'kind',
          'rules',
          'total',
        ]),
      ),
      total: integer,
    },
    ['mesh', 'zone', 'service', 'tables', 'total'],
    {
      description:
        'The merged routes of a service by port and group, the stronger match first: the first 64 tables and 1,024 matches; total counts all.',
    },
  ),
};

/** The paths of questions about routes. */
export function routesPaths(): OpenApiObject {
  const media = {
    schema: schema('RequestQuestion'),
    example: {
      from: { namespace: 'default' },
      to: 'http://example:6379/',
      service: { name: 'example' },
      method: 'GET',
    },
  };
  return {
    '/meshes/{mesh}/_explain': {
      post: {
        operationId: 'explainRequest',
        tags: ['Server'],
        summary: 'What happens to a request, and why every other rule lost',
        parameters: [MESH, ...queryParameters([ZONE_OF_VIEW])],
        requestBody: { required: true, content: { [BODY_TYPES.json[0]]: media, [BODY_TYPES.yaml[0]]: media } },
        responses: {
          200: jsonContent('From the host to the shares.', schema('RequestAnswer')),
          ...problemResponses(400, 403, 404, 413, 415, 422),
        },
      },
    },
    '/meshes/{mesh}/_routes': {
      get: {
        operationId: 'listRoutesOfService',
        tags: ['Server'],
        summary: 'The merged routes of a service',
        parameters: [MESH, ...queryParameters(ROUTES_PARAMETERS)],
        responses: {
          200: jsonContent('By port and group.', schema('ServiceRoutes')),
          ...problemResponses(400, 403, 404, 422),
        },
      },
    },
  };
}
