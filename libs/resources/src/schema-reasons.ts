import { nearest } from './suggestion';
import type { FieldPath, Violation } from './violation';

/** The part of JSON Schema that kinds use; everything else a schema says is left to the compiled validator. */
export interface Schema {
  readonly type?: unknown;
  /** What a pattern means, with an article: for people, who do not read patterns. */
  readonly title?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: unknown;
  readonly patternProperties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minProperties?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
}

/**
 * Every violation of `value` against a schema, in the order of the document. A library's validator stops at a number
 * of errors and reports each branch of a union; an operator wants all fields at once and one reason a field.
 */
export function explain(schema: Schema, value: unknown, at: FieldPath): Violation[] {
  if (schema.anyOf) return explainUnion(schema.anyOf, value, at);
  if (schema.enum && !schema.enum.some((option) => option === value))
    return [at.violation(`must be one of ${list(schema.enum)}; got ${show(value)}`)];
  if (schema.const !== undefined && schema.const !== value)
    return [at.violation(`must be ${show(schema.const)}; got ${show(value)}`)];
  switch (schema.type) {
    case 'object':
      return isRecord(value) ? explainObject(schema, value, at) : [wrongType('an object', value, at)];
    case 'array':
      return Array.isArray(value) ? explainArray(schema, value, at) : [wrongType('a list', value, at)];
    case 'string':
      return typeof value === 'string' ? explainString(schema, value, at) : [wrongType('a string', value, at)];
    case 'integer':
      return Number.isInteger(value)
        ? explainNumber(schema, Number(value), at)
        : [wrongType('a whole number', value, at)];
    case 'number':
      return typeof value === 'number' ? explainNumber(schema, value, at) : [wrongType('a number', value, at)];
    case 'boolean':
      return typeof value === 'boolean' ? [] : [wrongType('true or false', value, at)];
    default:
      return [];
  }
}

function explainObject(schema: Schema, value: Readonly<Record<string, unknown>>, at: FieldPath): Violation[] {
  const known = schema.properties ?? {};
  const missing = (schema.required ?? [])
    .filter((key) => value[key] === undefined)
    .map((key) => at.field(key).violation('is required'));
  const few = schema.minProperties !== undefined && Object.keys(value).length < schema.minProperties;
  const inner = Object.entries(value).flatMap(([key, item]) => explainEntry(schema, { key, item, known }, at));
  return [...missing, ...(few ? [at.violation('must not be empty')] : []), ...inner];
}

function explainEntry(
  schema: Schema,
  entry: { readonly key: string; readonly item: unknown; readonly known: Readonly<Record<string, Schema>> },
  at: FieldPath,
): Violation[] {
  const field = at.field(entry.key);
  if (entry.item === undefined) return [];
  const own = Object.hasOwn(entry.known, entry.key) ? entry.known[entry.key] : undefined;
  if (own) return explain(own, entry.item, field);
  const patterns = Object.entries(schema.patternProperties ?? {});
  const matched = patterns.find(([pattern]) => new RegExp(pattern).test(entry.key));
  if (matched) return explain(matched[1], entry.item, field);
  if (schema.additionalProperties !== false) return [];
  return [field.violation(unknownField(entry.key, Object.keys(entry.known)))];
}

/** What to say of a field nobody knows, with the likely meaning where there is one. */
export function unknownField(key: string, known: readonly string[]): string {
  const guess = nearest(key, known);
  return guess === undefined ? 'is not a known field' : `is not a known field; did you mean "${guess}"?`;
}

function explainArray(schema: Schema, value: readonly unknown[], at: FieldPath): Violation[] {
  const { minItems = 0, maxItems = Infinity, items } = schema;
  if (value.length < minItems) return [at.violation(`must have at least ${minItems} item${minItems === 1 ? '' : 's'}`)];
  if (value.length > maxItems) return [at.violation(`must have at most ${maxItems} items, has ${value.length}`)];
  return items ? value.flatMap((item, i) => explain(items, item, at.index(i))) : [];
}

function explainString(schema: Schema, value: string, at: FieldPath): Violation[] {
  const { minLength = 0, maxLength = Infinity, pattern, title } = schema;
  if (value === '' && minLength > 0) return [at.violation('must not be empty')];
  if (value.length < minLength) return [at.violation(`must have at least ${minLength} characters`)];
  if (value.length > maxLength)
    return [at.violation(`must not be longer than ${maxLength} characters, has ${value.length}`)];
  if (pattern !== undefined && !new RegExp(pattern).test(value))
    return [at.violation(`must ${title === undefined ? `match ${pattern}` : `be ${title}`}; got ${show(value)}`)];
  return [];
}

function explainNumber(schema: Schema, value: number, at: FieldPath): Violation[] {
  const { minimum = -Infinity, maximum = Infinity } = schema;
  if (value >= minimum && value <= maximum) return [];
  if (Number.isFinite(minimum) && Number.isFinite(maximum))
    return [at.violation(`must be ${minimum} to ${maximum}; got ${value}`)];
  return [
    at.violation(
      value < minimum ? `must be at least ${minimum}; got ${value}` : `must be at most ${maximum}; got ${value}`,
    ),
  ];
}

function explainUnion(branches: readonly Schema[], value: unknown, at: FieldPath): Violation[] {
  const consts = branches.map((b) => b.const);
  if (consts.every((c) => c !== undefined)) {
    return consts.some((c) => c === value) ? [] : [at.violation(`must be one of ${list(consts)}; got ${show(value)}`)];
  }
  const judged = branches.map((b) => explain(b, value, at));
  if (judged.some((violations) => violations.length === 0)) return [];
  const sameType = branches.findIndex(
    (b) => b.type === jsonType(value) || (b.type === 'integer' && Number.isInteger(value)),
  );
  const best = sameType >= 0 ? judged[sameType] : undefined;
  return best ?? [at.violation(`must be ${branches.map((b) => wordFor(b.type)).join(' or ')}; got ${show(value)}`)];
}

const WORDS: Readonly<Record<string, string>> = {
  object: 'an object',
  array: 'a list',
  string: 'a string',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  null: 'null',
};

function wordFor(type: unknown): string {
  return WORDS[String(type)] ?? String(type);
}

function wrongType(wanted: string, value: unknown, at: FieldPath): Violation {
  return at.violation(`must be ${wanted}; got ${show(value)}`);
}

function jsonType(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  return value === null ? 'null' : typeof value;
}

/** True for a JSON object. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return jsonType(value) === 'object';
}

function list(values: readonly unknown[]): string {
  return values.map(String).join(', ');
}

function show(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  if (isRecord(value)) return 'an object';
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > 80 ? `${text.slice(0, 77)}..."` : text;
}
