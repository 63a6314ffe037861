import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '@causeway/resources';
import type { RestQueryParameter } from '../http/query-reader';
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
    name,
    in: 'query',
    description,
    schema,
    ...(required === undefined ? {} : { required: true, example: required.example }),
    ...(family === true ? { style: 'deepObject', explode: true } : {}),
  }));
}

/** A header parameter. */
function headerParameter(name: string, description: string): OpenApiObject {
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
    schema: { ...text, enum: ['created', 'updated', 'unchanged'] },
  },
};
export const ETAG_HEADER: OpenApiObject = {
  ETag: { description: 'This state of the resource, for If-Match.', schema: text },
};

/** A document whose repeated parameters became components. */
export interface ExtractedParameters {
  readonly paths: JsonObject;
  readonly parameters: JsonObject;
}

/**
 * Replaces every parameter by a reference, equal ones by the same: written out for each kind they are most of the
 * document. A component is called after its parameter, with a number where one name means several things; `Parameter` keeps
 * the names that generators of clients make of them apart from those of schemas.
 */
export function extractParameters(paths: JsonObject): ExtractedParameters {
  const names = new Map<string, string>();
  const parameters: Record<string, JsonValue> = {};
  const reference = (parameter: JsonValue): JsonValue => {
    const text = JSON.stringify(parameter);
    const known = names.get(text);
    const given = isJsonObject(parameter) ? parameter['name'] : undefined;
    const name = known ?? freeName(`${typeof given === 'string' ? given : ''}Parameter`, parameters);
    names.set(text, name);
    parameters[name] = parameter;
    return { $ref: `#/components/parameters/${name}` };
  };
  return { paths: withReferences(paths, reference), parameters };
}

function withReferences(node: JsonObject, reference: (parameter: JsonValue) => JsonValue): JsonObject {
  return Object.fromEntries(
    Object.entries(node).map(([key, value]): [string, JsonValue | undefined] => {
      if (key === 'parameters' && isJsonArray(value)) return [key, value.map(reference)];
      return [key, isJsonObject(value) && key !== 'schema' ? withReferences(value, reference) : value];
    }),
  );
}

function freeName(name: string, taken: Readonly<Record<string, JsonValue>>): string {
  let free = name;
  for (let i = 2; free in taken; i++) free = `${name}${i}`;
  return free;
}
