import { isRecord, type Schema } from './schema';

/**
 * `value` with the schema's defaults where fields are absent. The input is not changed; what no default concerns is shared
 * with it, whatever its keys are called. Values of a wrong type stay as they are, for the check to refuse.
 */
export function withDefaults(schema: Schema, value: unknown): unknown {
  if (value === undefined) {
    if (schema.default === undefined) return undefined;
    return withDefaults(schema, schema.default);
  }
  if (schema.type === 'object' && isRecord(value)) return objectWithDefaults(schema, value);
  const { items, maxItems = Infinity } = schema;
  if (schema.type === 'array' && items && Array.isArray(value) && value.length <= maxItems)
    return value.map((item) => withDefaults(items, item));
  return value;
}

function objectWithDefaults(
  { properties = {} }: Schema,
  value: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const filled = Object.entries(properties).flatMap(([key, inner]) => {
    const item = Object.hasOwn(value, key) ? value[key] : undefined;
    const next = withDefaults(inner, item);
    return next === item ? [] : [[key, next] as const];
  });
  return filled.length === 0 ? value : Object.fromEntries([...Object.entries(value), ...filled]);
}
