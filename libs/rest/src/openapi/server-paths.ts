import type { Registry } from '@causeway/resources';
import { BODY_TYPES } from '../http/body-decode';
import {
  ACCESS_PARAMETERS,
  addressParameters,
  FORMAT,
  FRESHNESS,
  HOSTNAME_PARAMETERS,
  LOOKUP_PARAMETERS,
  OFFSET_PAGE_PARAMETERS,
  overviewParameters,
  ZONE_OF_VIEW,
} from '../requests/query-parameters';
import { MESH, NAME, pathParameter, queryParameters } from './parameters';
import { problemResponses, jsonContent, object, page, list, schema, type OpenApiObject } from './schema-parts';

const text = { type: 'string' } as const;

/** The paths that belong to no kind, and the views over kinds. */
export function serverPaths(registry: Registry): OpenApiObject {
  return {
    '/': read('describeServer', 'Which control plane this is', schema('Root')),
    '/_resources': read(
      'listKinds',
      'Every kind, and the mesh that is meant where a request names none',
      object({ resources: list(schema('KindDescription')), defaultMesh: text }, ['resources', 'defaultMesh']),
    ),
    '/_kri/{kri}': get({
      id: 'getByKri',
      summary: 'Read the resource that an identifier names',
      body: { type: 'object' },
      parameters: [pathParameter('kri', 'kri_m____default_'), ...queryParameters([FORMAT])],
      problems: [400, 403, 404],
    }),
    '/who-am-i': read('whoAmI', 'Whom the server takes the caller for', schema('Caller')),
    '/rest/ca': {
      get: {
        operationId: 'showAuthority',
        tags: ['Server'],
        summary: 'What clients verify this server by, in PEM',
        responses: {
          200: { description: 'A certificate.', content: { 'application/x-pem-file': { schema: text } } },
          ...problemResponses(400, 404),
        },
      },
    },
    '/_access': get({
      id: 'reviewAccess',
      summary: 'Who may do what, and by which binding',
      body: object({ allowed: { type: 'boolean' }, binding: text, role: text, reason: text }, ['allowed', 'reason']),
      parameters: queryParameters(ACCESS_PARAMETERS),
      problems: [400, 403, 422],
    }),
    '/config': read('showConfig', 'The configuration, without secrets', { type: 'object' }),
    '/openapi.json': read('showOpenApi', 'This document', { type: 'object' }),
    ...overviewPaths(registry),
    ...namePaths(registry),
  };
}

interface ReadOperation {
  readonly id: string;
  readonly summary: string;
  readonly body: OpenApiObject;
  readonly parameters: readonly OpenApiObject[];
  readonly problems: readonly number[];
}

function get({ id, summary, body, parameters, problems: fails }: ReadOperation): OpenApiObject {
  return {
    get: {
      operationId: id,
      tags: ['Server'],
      summary,
      ...(parameters.length > 0 ? { parameters } : {}),
      responses: { 200: jsonContent('The answer.', body), ...problemResponses(...fails) },
    },
  };
}

function read(id: string, summary: string, body: OpenApiObject): OpenApiObject {
  return get({ id, summary, body, parameters: [], problems: [400, 403] });
}

function overviewPaths(registry: Registry): OpenApiObject {
  const view = (name: string, path: readonly OpenApiObject[], single: boolean): ReadOperation => {
    const kind = registry.kind(name);
    const one = schema(name === 'Zone' ? 'ZoneOverview' : 'Overview');
    const query = kind ? (single ? [...addressParameters(kind), FRESHNESS] : overviewParameters(kind)) : [];
    const id = `${single ? 'get' : 'list'}${name}Overview${path.length === 0 && name === 'Dataplane' ? 'OfAllMeshes' : ''}`;
    const summary = `${single ? 'One' : 'All'} ${name}${single ? '' : 's'} with what is known beside the log`;
    return {
      id,
      summary,
      body: single ? one : page(one),
      parameters: [...path, ...queryParameters(query)],
      problems: [400, 404],
    };
  };
  return {
    '/zones+insights': get(view('Zone', [], false)),
    '/zones+insights/{name}': get(view('Zone', [NAME], true)),
    '/dataplanes+insights': get(view('Dataplane', [], false)),
    '/meshes/{mesh}/dataplanes+insights': get(view('Dataplane', [MESH], false)),
    '/meshes/{mesh}/dataplanes+insights/{name}': get(view('Dataplane', [MESH, NAME], true)),
  };
}

function namePaths(registry: Registry): OpenApiObject {
  const service = registry.kind('MeshService');
  const address = service ? queryParameters([...addressParameters(service), FRESHNESS]) : [];
  return {
    '/meshes/{mesh}/hostnames': get({
      id: 'listHostnames',
      summary: 'Every hostname of a mesh and who claims it',
      body: page(schema('HostnameEntry')),
      parameters: [MESH, ...queryParameters(HOSTNAME_PARAMETERS)],
      problems: [400, 404, 422],
    }),
    '/meshes/{mesh}/meshservices/{name}/_hostnames': get({
      id: 'listHostnamesOfMeshService',
      summary: 'The hostnames that a service holds',
      body: schema('HostnamesOfService'),
      parameters: [MESH, NAME, ...address],
      problems: [400, 404],
    }),
    '/meshes/{mesh}/meshservices/{name}/_dataplanes': get({
      id: 'listDataplanesOfMeshService',
      summary: 'The Dataplanes that a service selects',
      body: schema('DataplanesOfService'),
      parameters: [MESH, NAME, ...address, ...queryParameters(OFFSET_PAGE_PARAMETERS)],
      problems: [400, 404],
    }),
    '/_dns/lookup': get({
      id: 'lookUpName',
      summary: "What the zone's DNS would answer to a name, and why",
      body: { type: 'object' },
      parameters: queryParameters(LOOKUP_PARAMETERS),
      problems: [400, 404],
    }),
    '/_explain/hostname': {
      post: hostnameOperation({
        id: 'explainHostname',
        summary: 'Who claims a hostname, who wins, and by which rule',
        answer: jsonContent('Every claim, strongest first.', schema('HostnameExplanation')),
      }),
    },
    '/_resolve/hostname': {
      post: hostnameOperation({
        id: 'resolveHostname',
        summary: 'The service that has a hostname, its virtual IPs and where it runs',
        answer: jsonContent('The service.', schema('ResolvedHostname')),
      }),
    },
  };
}

/** A question about one hostname, which stands in the body. */
function hostnameOperation({
  id,
  summary,
  answer,
}: {
  readonly id: string;
  readonly summary: string;
  readonly answer: OpenApiObject;
}): OpenApiObject {
  const media = { schema: schema('HostnameQuestion'), example: { hostname: 'redis.svc.mesh.local', mesh: 'default' } };
  return {
    operationId: id,
    tags: ['Server'],
    summary,
    parameters: queryParameters([ZONE_OF_VIEW]),
    requestBody: { required: true, content: { [BODY_TYPES.json[0]]: media, [BODY_TYPES.yaml[0]]: media } },
    responses: { 200: answer, ...problemResponses(400, 403, 404, 413, 415, 422) },
  };
}
