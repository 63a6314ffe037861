import { isJsonObject, type Schema } from '@causeway/resources';

/**
 * Returns why a client cannot read an answer, such as `items[0].name is missing`; undefined if it can. A server of another version may add fields and
 * words, so only required fields and the JSON types of fields in the schema are checked.
 */
export function findMisfit(
  schema: Schema & { readonly oneOf?: readonly Schema[] },
  value: unknown,
  field = '',
): string | undefined {
  const { type, items, properties = {}, required = [] } = schema;
  const alternatives = schema.anyOf ?? schema.oneOf;
  if (alternatives) {
    const misfits = alternatives.map((one) => findMisfit(one, value, field));
    return misfits.includes(undefined) ? undefined : misfits[0];
  }
  const types = (Array.isArray(type) ? type : [type]).filter((one) => typeof one === 'string');
  if (types.length > 0 && !types.some((one) => isOfType(one, value)))
    return `${field === '' ? 'the answer' : field} is not of type ${types.join(' or ')}`;
  if (Array.isArray(value)) return items && findFirst(value, (item, i) => findMisfit(items, item, `${field}[${i}]`));
  if (!isJsonObject(value)) return undefined;
  return findFirst(Object.entries(properties), ([name, inner]) => {
    const at = field === '' ? name : `${field}.${name}`;
    const given = Object.hasOwn(value, name) ? value[name] : undefined;
    if (given !== undefined) return findMisfit(inner, given, at);
    return required.includes(name) ? `${at} is missing` : undefined;
  });
}

function isOfType(type: string, value: unknown): boolean {
  if (type === 'object') return isJsonObject(value);
  if (type === 'array') return Array.isArray(value);
  if (type === 'null') return value === null;
  return typeof value === (type === 'integer' ? 'number' : type);
}

/** Returns the first result that is not undefined. */
function findFirst<T, R>(values: readonly T[], find: (value: T, i: number) => R | undefined): R | undefined {
  for (const [i, value] of values.entries()) {
    const found = find(value, i);
    if (found !== undefined) return found;
  }
  return undefined;
}
