import type { Static, TSchema } from 'typebox';
import { Compile, type Validator } from 'typebox/compile';
import { FieldPath, Violations, type Violation } from '../violation';
import { shapeViolation } from './received-shape';
import { isRecord, type Schema } from './schema';
import { addSchemaViolations } from './schema-violations';
import { validSubset, type ValidSubset } from './valid-subset';

/** A compiled schema. */
export interface CompiledSchema<S extends TSchema> {
  readonly fits: (value: unknown) => value is Static<S>;
  /** Adds every violation to `found`; none if the value fits. */
  readonly check: (value: unknown, at: FieldPath, found: Violations) => void;
  /** Returns the first field with a wrong JSON type or with more items, entries or characters than allowed. */
  readonly shapeViolation: (value: unknown, at: FieldPath) => Violation | undefined;
  /** Returns the value with defaults for absent fields; does not change the input. */
  readonly withDefaults: (value: unknown) => unknown;
  /** Returns the part of an invalid value that further rules can check. */
  readonly validSubset: (value: unknown, at: FieldPath) => ValidSubset;
}

/**
 * Compiles a TypeBox schema. Call it once and keep the result. The code is made at the first check: a program has hundreds of schemas,
 * needs few of them in its first seconds, and would spend a fifth of its start on the others.
 */
export function compileSchema<S extends TSchema>(schema: S): CompiledSchema<S> {
  let validator: Validator<Record<never, never>, S> | undefined;
  const fits = (value: unknown): value is Static<S> => (validator ??= Compile(schema)).Check(value);
  return {
    fits,
    withDefaults: (value) => withDefaults(schema, value),
    validSubset: (value, at) => validSubset(schema, value, at),
    // The compiled check is fast, and a value that fits also has the right shape.
    shapeViolation: (value, at) => (fits(value) ? undefined : shapeViolation(schema, value, at)),
    check: (value, at, found) => {
      if (fits(value)) return;
      const before = found.total;
      addSchemaViolations(schema, value, at, found);
      if (found.total === before) found.add(at, 'invalid', () => 'does not fit its schema');
    },
  };
}

/**
 * Interprets a schema given at run time: no code is generated from it. It must be in the subset of JSON Schema that `Schema` has,
 * with a bound for every text, list and map, and patterns must have their test (`PATTERN_TEST`). Linear in the value.
 */
export function interpretSchema(schema: Schema): CompiledSchema<TSchema> {
  const fits = (value: unknown): value is never => {
    const found = new Violations(0);
    addSchemaViolations(schema, value, FieldPath.at(), found);
    return found.total === 0;
  };
  return {
    fits,
    withDefaults: (value) => withDefaults(schema, value),
    validSubset: (value, at) => validSubset(schema, value, at),
    shapeViolation: (value, at) => shapeViolation(schema, value, at),
    check: (value, at, found) => addSchemaViolations(schema, value, at, found),
  };
}

/**
 * Returns `value` with the schema's defaults for absent fields. Does not change the input; parts without defaults are shared with the result, with
 * any keys. Values of a wrong type stay unchanged, and the check refuses them.
 */
function withDefaults(schema: Schema, value: unknown): unknown {
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
