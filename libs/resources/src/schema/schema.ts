/** The part of JSON Schema that kinds use. The compiled validator checks everything else. */
export interface Schema {
  readonly type?: unknown;
  /** What a pattern means, with an article, for messages to people. */
  readonly title?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
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
  readonly minimum?: number;
  readonly maximum?: number;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly anyOf?: readonly Schema[];
}

const COMPILED = new Map<string, RegExp>();

/** True if `text` matches a pattern of a schema; each pattern is compiled once. */
export function matches(pattern: string, text: string): boolean {
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
