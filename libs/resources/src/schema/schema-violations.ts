import { codePoints, entrySchema, fitsPattern, isLonger, isRecord, ownSchema, type Schema } from './schema';
import { nearest } from '../suggestion';
import { shortened, type FieldPath, type Violations } from '../violation';

/**
 * Adds every violation of `value` against a schema to `found`, in the order of the document. It gives one reason per
 * field, whereas validators of libraries stop after some errors and report each branch of a union. A value with more
 * items, fields or characters than the schema allows is one violation and is not traversed. Linear in the value.
 */
export function addSchemaViolations(schema: Schema, value: unknown, at: FieldPath, found: Violations): void {
  if (schema.anyOf) return unionViolations(schema.anyOf, value, at, found);
  const { enum: options, const: only } = schema;
  if (options) {
    if (!options.includes(value))
      found.add(at, 'not-one-of', () => `must be one of ${list(options)}; got ${show(value)}`);
    return;
  }
  if (only !== undefined) {
    if (only !== value) found.add(at, 'not-one-of', () => `must be ${show(only)}; got ${show(value)}`);
    return;
  }
  switch (schema.type) {
    case 'object':
      return isRecord(value) ? objectViolations(schema, value, at, found) : wrongType('an object', value, at, found);
    case 'array':
      return Array.isArray(value) ? arrayViolations(schema, value, at, found) : wrongType('a list', value, at, found);
    case 'string':
      return typeof value === 'string'
        ? stringViolations(schema, value, at, found)
        : wrongType('a string', value, at, found);
    case 'integer':
      return Number.isInteger(value)
        ? numberViolations(schema, Number(value), at, found)
        : wrongType('a whole number', value, at, found);
    case 'number':
      return typeof value === 'number'
        ? numberViolations(schema, value, at, found)
        : wrongType('a number', value, at, found);
    case 'boolean':
      return typeof value === 'boolean' ? undefined : wrongType('true or false', value, at, found);
    case 'null':
      return value === null ? undefined : wrongType('null', value, at, found);
  }
}

function objectViolations(
  schema: Schema,
  value: Readonly<Record<string, unknown>>,
  at: FieldPath,
  found: Violations,
): void {
  const { properties = {}, required = [], minProperties = 0, maxProperties = Infinity } = schema;
  const fields = Object.keys(value).length;
  if (fields > maxProperties)
    return found.add(at, 'too-many', () => `must have at most ${maxProperties} entries, has ${fields}`);
  for (const key of required)
    if (!Object.hasOwn(value, key) || value[key] === undefined)
      found.add(at.field(key), 'required', () => 'is required');
  if (fields < minProperties) found.add(at, 'too-few', () => 'must not be empty');
  for (const [key, item] of Object.entries(value)) {
    if (item === undefined) continue;
    const field = at.field(key);
    const own = ownSchema(properties, key);
    if (own) addSchemaViolations(own, item, field, found);
    else entryViolations(schema, { key, item }, field, found);
  }
}

function entryViolations(
  schema: Schema,
  { key, item }: { readonly key: string; readonly item: unknown },
  at: FieldPath,
  found: Violations,
): void {
  const { propertyNames, properties = {} } = schema;
  const before = found.total;
  if (propertyNames) nameViolations(propertyNames, key, at, found);
  if (found.total > before) return;
  const entry = entrySchema(schema, key);
  if (entry) addSchemaViolations(entry, item, at, found);
  else if (schema.additionalProperties === false)
    found.add(at, 'unknown-field', () => unknownField(key, Object.keys(properties)));
}

function nameViolations(schema: Schema, key: string, at: FieldPath, found: Violations) {
  const { maxLength = Infinity, pattern = '', title } = schema;
  if (isLonger(key, maxLength))
    found.add(at, 'too-long', () => `has a name longer than ${maxLength} characters: ${key.length}`);
  else if (!fitsPattern(schema, key))
    found.add(at, 'wrong-form', () => `has a name that must be ${title ?? `as in ${pattern}`}`);
}

/** Returns the reason for an unknown field, with the nearest known field if there is one. */
export function unknownField(key: string, known: readonly string[]): string {
  const guess = nearest(key, known);
  return guess === undefined ? 'is not a known field' : `is not a known field; did you mean "${guess}"?`;
}

function arrayViolations(schema: Schema, value: readonly unknown[], at: FieldPath, found: Violations): void {
  const { minItems = 0, maxItems = Infinity, items } = schema;
  if (value.length < minItems)
    return found.add(at, 'too-few', () => `must have at least ${minItems} item${minItems === 1 ? '' : 's'}`);
  if (value.length > maxItems)
    return found.add(at, 'too-many', () => `must have at most ${maxItems} items, has ${value.length}`);
  if (items) value.forEach((item, i) => addSchemaViolations(items, item, at.index(i), found));
}

function stringViolations(schema: Schema, value: string, at: FieldPath, found: Violations): void {
  const { minLength = 0, maxLength = Infinity, pattern = '', title } = schema;
  if (value === '' && minLength > 0) return found.add(at, 'required', () => 'must not be empty');
  if (value.length < minLength) return found.add(at, 'too-short', () => `must have at least ${minLength} characters`);
  if (isLonger(value, maxLength))
    return found.add(at, 'too-long', () => `must not be longer than ${maxLength} characters, has ${codePoints(value)}`);
  if (!fitsPattern(schema, value))
    found.add(
      at,
      'wrong-form',
      () => `must ${title === undefined ? `match ${pattern}` : `be ${title}`}; got ${show(value)}`,
    );
}

function numberViolations(schema: Schema, value: number, at: FieldPath, found: Violations): void {
  const { minimum = -Infinity, maximum = Infinity, multipleOf } = schema;
  if (value >= minimum && value <= maximum) {
    if (multipleOf !== undefined && !isMultiple(value, multipleOf))
      found.add(at, 'wrong-form', () => `must be a multiple of ${multipleOf}; got ${value}`);
    return;
  }
  found.add(at, 'out-of-range', () => {
    if (Number.isFinite(minimum) && Number.isFinite(maximum)) return `must be ${minimum} to ${maximum}; got ${value}`;
    return value < minimum ? `must be at least ${minimum}; got ${value}` : `must be at most ${maximum}; got ${value}`;
  });
}

function unionViolations(branches: readonly Schema[], value: unknown, at: FieldPath, found: Violations): void {
  const consts = branches.map((branch) => branch.const);
  if (consts.every((only) => only !== undefined)) {
    if (!consts.some((only) => only === value))
      found.add(at, 'not-one-of', () => `must be one of ${list(consts)}; got ${show(value)}`);
    return;
  }
  const reports = branches.map((branch) => found.beside((aside) => addSchemaViolations(branch, value, at, aside)));
  if (reports.some(({ total }) => total === 0)) return;
  const best = reports[branches.findIndex((branch) => isOfType(branch, value))];
  if (best) found.merge(best);
  else
    found.add(
      at,
      'wrong-type',
      () => `must be ${branches.map(({ type }) => wordFor(type)).join(' or ')}; got ${show(value)}`,
    );
}

function isOfType({ type }: Schema, value: unknown): boolean {
  return type === jsonType(value) || (type === 'integer' && Number.isInteger(value));
}

const WORDS: ReadonlyMap<unknown, string> = new Map([
  ['object', 'an object'],
  ['array', 'a list'],
  ['string', 'a string'],
  ['integer', 'a whole number'],
  ['number', 'a number'],
  ['boolean', 'true or false'],
  ['null', 'null'],
]);

function wordFor(type: unknown): string {
  return WORDS.get(type) ?? String(type);
}

function wrongType(wanted: string, value: unknown, at: FieldPath, found: Violations): void {
  found.add(at, 'wrong-type', () => `must be ${wanted}; got ${show(value)}`);
}

function jsonType(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  return value === null ? 'null' : typeof value;
}

/** 0.3 is three times 0.1, although not in binary. */
function isMultiple(value: number, of: number): boolean {
  const times = value / of;
  return Math.abs(times - Math.round(times)) < 1e-6;
}

function list(values: readonly unknown[]): string {
  return values.map(String).join(', ');
}

/** Formats a value for messages, at most 80 characters. */
export function show(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  if (isRecord(value)) return 'an object';
  const text = JSON.stringify(typeof value === 'string' ? shortened(value, 100) : value) ?? 'nothing';
  return text.length > 80 ? `${text.slice(0, 77)}..."` : text;
}
