import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '@causeway/resources';

/** Fields that name another thing by a text alone. */
const NAMING = new Set([
  'secret',
  'secretName',
  'role',
  'issuer',
  'gatewayClassName',
  'controllerName',
  'enabledBackend',
  'namespace',
  'namespaces',
  'namespaceName',
  'mesh',
  'zone',
  'zones',
  'serviceName',
  'reachableServices',
  'directAccessServices',
  'jwksUri',
  'caFile',
]);
/** Objects that name something of the machine that reads them. */
const OF_MACHINE = new Set(['file', 'envVar', 'sds']);
const QUALIFIERS = ['kind', 'group', 'namespace', 'mesh', 'awsName'];

const objectIn = (value: unknown): JsonObject => (isJsonObject(value) ? value : {});
const listIn = (value: unknown): readonly JsonValue[] => (isJsonArray(value) ? value : []);

/** The paths of all references in a schema: fields that name something else, by their form or their name. */
export function* references(schema: unknown, path: readonly string[] = []): Generator<string> {
  const { properties, items, anyOf, allOf, patternProperties, additionalProperties } = objectIn(schema);
  const fields = objectIn(properties);
  const name = path.at(-1)?.replace('[]', '') ?? '';
  const isQualified = 'name' in fields && QUALIFIERS.some((field) => field in fields);
  if (isQualified || /Refs?$/.test(name) || OF_MACHINE.has(name)) {
    if (items === undefined) yield path.join('.');
    else yield* references(items, [...path.slice(0, -1), `${name}[]`]);
    return;
  }
  if (NAMING.has(name) && Object.keys(fields).length === 0) {
    yield path.join('.');
    return;
  }
  for (const [field, value] of Object.entries(fields)) yield* references(value, [...path, field]);
  if (items !== undefined) yield* references(items, [...path.slice(0, -1), `${name}[]`]);
  for (const part of [...listIn(anyOf), ...listIn(allOf)]) yield* references(part, path);
  for (const value of [...Object.values(objectIn(patternProperties)), additionalProperties])
    if (isJsonObject(value)) yield* references(value, [...path, '*']);
}

/** Names of fields whose text is a place: an address, a host or a file. */
const PLACE = /^(address|serviceAddress|advertisedAddress|host|hostname|path|file|url)$/i;

/** The paths of all texts in a schema that name a place. */
export function* addresses(schema: unknown, path: readonly string[] = []): Generator<string> {
  const { properties, items, anyOf, allOf, patternProperties, additionalProperties } = objectIn(schema);
  const name = path.at(-1)?.replace('[]', '') ?? '';
  if (PLACE.test(name) && properties === undefined && items === undefined) yield path.join('.');
  for (const [field, value] of Object.entries(objectIn(properties))) yield* addresses(value, [...path, field]);
  if (items !== undefined) yield* addresses(items, [...path.slice(0, -1), `${name}[]`]);
  for (const part of [...listIn(anyOf), ...listIn(allOf)]) yield* addresses(part, path);
  for (const value of [...Object.values(objectIn(patternProperties)), additionalProperties])
    if (isJsonObject(value)) yield* addresses(value, [...path, '*']);
}
