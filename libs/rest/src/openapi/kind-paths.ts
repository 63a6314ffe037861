import type { Kind, KindAlias } from '@causeway/resources';
import { BODY_TYPES } from '../http/body-decode';
import { deleteParameters, getParameters, listParameters, writeParameters } from '../requests/query-parameters';
import {
  ETAG_HEADER,
  IF_MATCH,
  LAST_EVENT_ID,
  MESH,
  NAME,
  queryParameters,
  OUTCOME_HEADER,
  REVISION_HEADER,
} from './parameters';
import { problemResponses, jsonContent, page, schema, type OpenApiObject } from './schema-parts';
import { documentSchema, exampleDocument, listedSchema } from './resource-schemas';

/** The paths of one kind and of its aliases: lists and single resources. */
export function kindPaths(kind: Kind): OpenApiObject {
  const paths = [kind, ...kind.aliases].map((called) => pathsOf(kind, called));
  return Object.fromEntries(paths.flatMap((some) => Object.entries(some)));
}

/** Name of a kind in a path: its own, or an alias. */
type Called = Pick<KindAlias, 'name' | 'plural'>;

function article({ name }: Called): string {
  return /^[AEIOX]/.test(name) ? 'an' : 'a';
}

function pathsOf(kind: Kind, called: Called): OpenApiObject {
  const mesh = kind.scope === 'mesh' ? [MESH] : [];
  const prefix = kind.scope === 'mesh' ? '/meshes/{mesh}' : '';
  const everywhere = {
    [`/${called.plural}`]: { get: listOperation(kind, called, [], kind.scope === 'mesh' ? 'OfAllMeshes' : '') },
  };
  const inMesh = { [`${prefix}/${called.plural}`]: { get: listOperation(kind, called, mesh, '') } };
  return {
    ...everywhere,
    ...(kind.scope === 'mesh' ? inMesh : {}),
    [`${prefix}/${called.plural}/{name}`]: {
      parameters: [...mesh, NAME],
      get: getOperation(kind, called),
      put: putOperation(kind, called),
      patch: patchOperation(kind, called),
      delete: deleteOperation(kind, called),
    },
  };
}

function listOperation(kind: Kind, called: Called, path: readonly OpenApiObject[], suffix: string): OpenApiObject {
  const body = jsonContent('A page of resources.', page(schema(listedSchema(kind))), REVISION_HEADER);
  return {
    operationId: `list${called.name}${suffix}`,
    tags: [kind.name],
    summary: `List or watch ${called.plural}${suffix === '' ? '' : ' of all meshes'}`,
    parameters: [...path, ...queryParameters(listParameters(kind)), LAST_EVENT_ID],
    responses: {
      200: {
        ...body,
        content: {
          ...contentOf(body),
          'text/event-stream': { schema: schema('WatchEvent') },
        },
      },
      ...problemResponses(400, 403, 404, 410),
    },
  };
}

function getOperation(kind: Kind, called: Called): OpenApiObject {
  return {
    operationId: `get${called.name}`,
    tags: [kind.name],
    summary: `Read one ${called.name}`,
    parameters: queryParameters(getParameters(kind)),
    responses: {
      200: jsonContent('The resource.', schema(documentSchema(kind)), { ...REVISION_HEADER, ...ETAG_HEADER }),
      ...problemResponses(400, 403, 404),
    },
  };
}

function putOperation(kind: Kind, called: Called): OpenApiObject {
  const example = exampleDocument(kind);
  const media = { schema: schema(documentSchema(kind)), ...(example === undefined ? {} : { example }) };
  return {
    ...writeOperation(kind, called, 'put', `Create or replace ${article(called)} ${called.name}`),
    requestBody: {
      required: true,
      content: Object.fromEntries([BODY_TYPES.json[0], BODY_TYPES.yaml[0]].map((type) => [type, media])),
    },
    responses: {
      200: writeResponse('It was there; it is now as sent.', OUTCOME_HEADER),
      201: writeResponse('It was made.', OUTCOME_HEADER),
      ...problemResponses(...WRITE_PROBLEMS),
    },
  };
}

function patchOperation(kind: Kind, called: Called): OpenApiObject {
  const media = { schema: { type: 'object' }, example: { labels: { team: 'db' } } };
  return {
    ...writeOperation(kind, called, 'patch', `Change parts of ${article(called)} ${called.name} (RFC 7386)`),
    requestBody: {
      required: true,
      content: Object.fromEntries(
        [BODY_TYPES.json[1], BODY_TYPES.json[0], BODY_TYPES.yaml[0]].map((type) => [type, media]),
      ),
    },
    responses: { 200: writeResponse('It was changed.', OUTCOME_HEADER), ...problemResponses(...WRITE_PROBLEMS) },
  };
}

function deleteOperation(kind: Kind, called: Called): OpenApiObject {
  return {
    ...writeOperation(kind, called, 'delete', `Delete ${article(called)} ${called.name}`),
    parameters: [...queryParameters(deleteParameters(kind)), IF_MATCH],
    responses: { 200: writeResponse('It is gone.'), ...problemResponses(...WRITE_PROBLEMS) },
  };
}

const ROLES: Readonly<Record<Kind['writer'], string>> = {
  owner: 'service-owner',
  operator: 'mesh-operator',
  admin: 'admin',
};

const WRITE_PROBLEMS = [400, 403, 404, 409, 412, 413, 415, 422];

function writeOperation(kind: Kind, called: Called, verb: string, summary: string): OpenApiObject {
  return {
    operationId: `${verb}${called.name}`,
    tags: [kind.name],
    summary,
    description: `Written on: ${kind.sync.writtenOn.join(', ')}${kind.sync.standalone ? ', or a zone without a global' : ''}. The least built-in role that may: ${ROLES[kind.writer]}.`,
    parameters: [...queryParameters(writeParameters(kind)), IF_MATCH],
  };
}

function writeResponse(description: string, headers: OpenApiObject = {}): OpenApiObject {
  return jsonContent(description, schema('Written'), { ...REVISION_HEADER, ...headers });
}

function contentOf(part: OpenApiObject): object {
  return typeof part['content'] === 'object' && part['content'] !== null ? part['content'] : {};
}
