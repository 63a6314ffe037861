import type { Kind, Registry, Schema } from '@causeway/resources';
import {
  EXAMPLE_NAME,
  OPERATIONS,
  querySchema,
  withoutMesh,
  type KindOperation,
  type CalledKind,
  type Operation,
  type OperationAnswer,
  type OperationBody,
} from '@causeway/api';
import type { TSchema } from 'typebox';
import { problemResponses, text, type OpenApiObject } from './schema-parts';

/** Examples of path parameters. */
const PATH_EXAMPLES: Readonly<Record<string, string>> = {
  mesh: 'default',
  name: EXAMPLE_NAME,
  kri: 'kri_m____default_',
  group: 'networking.example.com',
  kind: 'ExternalService',
};

/** Media types of a body in order, unless the definition names others. */
const BODY_TYPES = ['application/json', 'application/yaml'];

/** Returns the paths of all operations: those of kinds once for each kind and each alias. */
export function operationPaths(registry: Registry): OpenApiObject {
  const paths: Record<string, OpenApiObject> = {};
  for (const operation of OPERATIONS)
    for (const [path, item] of listPaths(operation, registry))
      paths[path] = { ...paths[path], [operation.method.toLowerCase()]: item };
  return paths;
}

type PathItem = readonly [path: string, item: OpenApiObject];

function listPaths(operation: Operation | KindOperation, registry: Registry): readonly PathItem[] {
  if ('id' in operation) return [[operation.path, documented(operation, operation.path, 'Server')]];
  return registry.kinds
    .filter((kind) => operation.kinds(kind, registry))
    .flatMap((kind) => listDocumentedNames(operation, kind).map((called) => documentKind(operation, kind, called)));
}

/** Returns the names under which a kind is documented: views of a kind have its own name only. */
function listDocumentedNames({ path }: KindOperation, kind: Kind): readonly Pick<CalledKind, 'name' | 'plural'>[] {
  return /\{plural\}(\/\{name\})?$/.test(path) ? [kind, ...kind.aliases] : [kind];
}

function documentKind(
  operation: KindOperation,
  kind: Kind,
  { name, plural }: Pick<CalledKind, 'name' | 'plural'>,
): PathItem {
  const inScope = kind.scope === 'mesh' ? operation.path : withoutMesh(operation.path);
  const path = inScope.replace('{plural}', plural);
  const query = operation.query(kind);
  return [path, documented({ ...operation, ...operation.of({ kind, name, plural }), query }, path, kind.name)];
}

function documented(operation: Operation, path: string, tag: string): OpenApiObject {
  const { id, summary, description, access, headers = {}, body, answer, problems } = operation;
  const parameters = [...pathParameters(path), ...queryParameters(operation), ...headerParameters(headers)];
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(description === undefined ? {} : { description }),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(body ? { requestBody: requestBody(body) } : {}),
    responses: { ...answers(answer), ...problemResponses(problems) },
    ...(access === 'public' ? { security: [{}, { bearer: [] }] } : {}),
  };
}

function pathParameters(path: string): readonly OpenApiObject[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    schema: { ...text, minLength: 1 },
    example: PATH_EXAMPLES[name],
  }));
}

function queryParameters(operation: Operation): readonly OpenApiObject[] {
  const { properties, required = [] }: Schema = querySchema(operation);
  return Object.entries(properties).map(([name, given]) => {
    const { description, example, ...schema }: OpenApiObject = { ...given };
    return {
      name,
      in: 'query',
      description,
      schema,
      ...(required.includes(name) ? { required: true, example } : {}),
      ...(schema['type'] === 'object' ? { style: 'deepObject', explode: true } : {}),
    };
  });
}

function headerParameters(headers: Readonly<Record<string, string>>): readonly OpenApiObject[] {
  return Object.entries(headers).map(([name, description]) => ({ name, in: 'header', description, schema: text }));
}

function requestBody({ schema, example, optional = false, types = BODY_TYPES }: OperationBody<TSchema>): OpenApiObject {
  const media = { schema, ...(example === undefined ? {} : { example }) };
  const content = Object.fromEntries(types.map((type) => [type, media]));
  return { ...(optional ? {} : { required: true }), content };
}

function answers({
  description,
  schema,
  type = 'application/json',
  also = {},
  headers,
  statuses = {},
}: OperationAnswer<TSchema>): OpenApiObject {
  const others = Object.entries(also).map(([media, form]) => [media, { schema: form }] as const);
  const content = { [type]: { schema }, ...Object.fromEntries(others) };
  const parts: OpenApiObject = headers === undefined ? { content } : { headers, content };
  const further = Object.entries(statuses).map(([status, means]): [string, OpenApiObject] => [
    status,
    status === '304' ? { description: means } : { description: means, ...parts },
  ]);
  return { 200: { description, ...parts }, ...Object.fromEntries(further) };
}
