import type { HttpRole } from './http-rule';

/** Whether a text matches the pattern of a schema that came at run time; it is not part of the schema's JSON. */
export const PATTERN_TEST: unique symbol = Symbol('pattern test');

/** Role of a text in requests (http/http-rule.ts); it is not part of the schema's JSON. */
export const HTTP_ROLE: unique symbol = Symbol('role in HTTP');

/** The part of JSON Schema that kinds use. The compiled validator checks everything else. */
export interface Schema {
  /** Of a schema with `pattern` that is no code of this product: the pattern never becomes a regular expression of JavaScript. */
  readonly [PATTERN_TEST]?: (text: string) => boolean;
  /** Of a text, or of the names of a map. */
  readonly [HTTP_ROLE]?: HttpRole;
  readonly type?: unknown;
  /** Description of a pattern, with an article, for messages. */
  readonly title?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[] | undefined;
  readonly additionalProperties?: unknown;
  readonly patternProperties?: Readonly<Record<string, Schema>>;
  readonly propertyNames?: Schema;
  readonly items?: Schema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  /** Of texts: a pattern that they must not match. */
  readonly not?: Pick<Schema, 'pattern' | typeof PATTERN_TEST>;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly multipleOf?: number;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly anyOf?: readonly Schema[];
}

const COMPILED = new Map<string, RegExp>();

/** True if `text` matches the pattern of a schema, or if the schema has none; and does not match what it must not match. */
export function fitsPattern(
  { not, ...schema }: Pick<Schema, 'pattern' | 'not' | typeof PATTERN_TEST>,
  text: string,
): boolean {
  const isMatched = (by: Pick<Schema, 'pattern' | typeof PATTERN_TEST>): boolean =>
    by[PATTERN_TEST]?.(text) ?? matches(by.pattern ?? '', text);
  return (schema.pattern === undefined || isMatched(schema)) && (not?.pattern === undefined || !isMatched(not));
}

/** Each pattern is compiled once. */
function matches(pattern: string, text: string): boolean {
  let compiled = COMPILED.get(pattern);
  if (!compiled) COMPILED.set(pattern, (compiled = new RegExp(pattern, 'u')));
  return compiled.test(text);
}

/** True if `text` has more than `most` characters (code points, as JSON Schema counts); costs at most `2 × most` steps. */
export function isLonger(text: string, most: number): boolean {
  if (text.length <= most) return false;
  if (text.length > 2 * most) return true;
  return codePoints(text) > most;
}

/** The number of characters of a text, as JSON Schema counts them. Linear in the text. */
export function codePoints(text: string): number {
  let points = 0;
  for (const _ of text) points += 1;
  return points;
}

/** The schema of an entry that is not a property: the values of a map. */
export function entrySchema({ patternProperties, additionalProperties }: Schema, key: string): Schema | undefined {
  for (const pattern in patternProperties) if (matches(pattern, key)) return patternProperties[pattern];
  return isSchema(additionalProperties) ? additionalProperties : undefined;
}

/** The schema of a field in `known`, never an inherited property. */
export function ownSchema(known: Readonly<Record<string, Schema>>, key: string): Schema | undefined {
  return Object.hasOwn(known, key) ? known[key] : undefined;
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null;
}

/** True for a JSON object. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
