import type { HttpRole } from './http-rule';

/** Tests a text against the pattern of a schema given at run time; not part of the schema's JSON. */
export const PATTERN_TEST: unique symbol = Symbol('pattern test');

/** Role of a text in requests (schema/http-rule.ts); not part of the schema's JSON. */
export const HTTP_ROLE: unique symbol = Symbol('role in HTTP');

/** The subset of JSON Schema that kinds use. The compiled validator checks everything else. */
export interface Schema {
  /** Set if `pattern` comes from a user: it never becomes a regular expression of JavaScript. */
  readonly [PATTERN_TEST]?: (text: string) => boolean;
  /** Role of a text, or of the keys of a map. */
  readonly [HTTP_ROLE]?: HttpRole;
  readonly type?: unknown;
  /** Description of a pattern for messages, with an article. */
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
  /** For texts: a pattern that must not match. */
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

/** True if `text` matches the schema's pattern, if any, and does not match its negated pattern. */
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

/** Returns the number of characters of a text, as JSON Schema counts them. Linear in the text. */
export function codePoints(text: string): number {
  let points = 0;
  for (const _ of text) points += 1;
  return points;
}

/** Returns the schema of an entry that is not a property: of the values of a map. */
export function entrySchema({ patternProperties, additionalProperties }: Schema, key: string): Schema | undefined {
  for (const pattern in patternProperties) if (matches(pattern, key)) return patternProperties[pattern];
  return isSchema(additionalProperties) ? additionalProperties : undefined;
}

/** Returns the schema of a field in `known`, never an inherited property. */
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
