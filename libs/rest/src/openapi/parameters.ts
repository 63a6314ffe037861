import type { RestQueryParameter } from '../requests/query-reader';
import { EXAMPLE_NAME } from './resource-schemas';
import { text, type OpenApiObject } from './schema-parts';

/** A path parameter of a mesh or a name. */
export function pathParameter(name: 'mesh' | 'name' | 'kri', example: string): OpenApiObject {
  return { name, in: 'path', required: true, schema: { ...text, minLength: 1 }, example };
}

export const MESH = pathParameter('mesh', 'default');
export const NAME = pathParameter('name', EXAMPLE_NAME);

/** Query parameters as the endpoint declares them. */
export function queryParameters(parameters: readonly RestQueryParameter[]): OpenApiObject[] {
  return parameters.map(({ name, description, schema, family, required }) => ({
    ...{ name, in: 'query', description, schema },
    ...(required === undefined ? {} : { required: true, example: required.example }),
    ...(family === true ? { style: 'deepObject', explode: true } : {}),
  }));
}

/** A header parameter. */
export function headerParameter(name: string, description: string): OpenApiObject {
  return { name, in: 'header', description, schema: text };
}

export const IF_MATCH = headerParameter('If-Match', 'The ETag that the stored resource must have, else 412.');
export const LAST_EVENT_ID = headerParameter(
  'Last-Event-ID',
  'With watch: the id of the last event seen; goes before `since`.',
);

/** Headers of answers. */
export const REVISION_HEADER: OpenApiObject = {
  'Causeway-Revision': { description: 'The revision of the store that this answer shows or made.', schema: text },
};
/** Of a put or patch. */
export const OUTCOME_HEADER: OpenApiObject = {
  'Causeway-Outcome': {
    description: 'What became of it; an equal resource is left as it is.',
    schema: { enum: ['created', 'updated', 'unchanged'] },
  },
};
export const ETAG_HEADER: OpenApiObject = {
  ETag: { description: 'This state of the resource, for If-Match.', schema: text },
};
