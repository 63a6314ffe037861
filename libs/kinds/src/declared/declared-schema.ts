import {
  isJsonObject,
  isJsonArray,
  nearest,
  PATTERN_TEST,
  shortened,
  type FieldPath,
  type JsonObject,
  type JsonValue,
  type Schema,
  type Violation,
} from '@causeway/resources';
import { RESERVED_FIELDS } from '@causeway/policies';
import { compileExpression } from '@causeway/routing';

/** Maximum depth of nested schemas. */
export const MAX_SCHEMA_DEPTH = 12;
/** Maximum number of schemas in one schema, itself included: fields, items, values of maps, alternatives. */
export const MAX_SCHEMAS = 512;
/** Bounds that apply if a schema gives none. */
export const DEFAULT_SCHEMA_BOUNDS = { maxLength: 1_024, maxItems: 128, maxProperties: 128, keyLength: 253 } as const;
/** The largest bounds that a schema may give. */
const MAX_SCHEMA_BOUNDS = {
  maxLength: 32_768,
  maxItems: 1_024,
  maxProperties: 1_024,
  keyLength: 1_024,
} as const;
const MAX_VALUES = 128;
const MAX_ALTERNATIVES = 8;
const MAX_TEXT_LENGTH = 1_024;

const ANNOTATIONS = ['title', 'description', 'examples'] as const;
/** The keywords of JSON Schema 2020-12 that a definition may use, by the type to which they apply. */
export const schemaKeywords = {
  object: ['properties', 'required', 'additionalProperties', 'propertyNames', 'minProperties', 'maxProperties'],
  array: ['items', 'minItems', 'maxItems'],
  string: ['minLength', 'maxLength', 'pattern', 'not'],
  integer: ['minimum', 'maximum', 'multipleOf'],
  number: ['minimum', 'maximum', 'multipleOf'],
  boolean: [],
} as const satisfies Readonly<Record<string, readonly string[]>>;
type SchemaType = keyof typeof schemaKeywords;

/** A schema in the form that is enforced, or its violations. */
export interface ReadSchema {
  readonly schema: Schema;
  readonly violations: readonly Violation[];
}

/**
 * Reads the schema of a user-defined spec: a subset of JSON Schema 2020-12 (docs/reference/policies.md). Every text,
 * list and map has a bound, patterns are RE2, and no code is generated from it. Linear in the schema.
 */
export function declaredSchema(value: unknown, at: FieldPath): ReadSchema {
  const reader = new SchemaReader();
  const schema = reader.read(value, at, 1);
  if (reader.violations.length === 0 && schema.type !== 'object')
    reader.violations.push(
      at.field('type').violation(`must be "object": a spec has fields${formatGot(schema.type)}`, 'not-one-of'),
    );
  const { properties = {} } = schema;
  for (const name of RESERVED_FIELDS.filter((field) => Object.hasOwn(properties, field)))
    reader.violations.push(
      at
        .field('properties')
        .field(name)
        .violation('is a field of every policy: a schema must not define it', 'not-allowed'),
    );
  return { schema, violations: reader.violations };
}

class SchemaReader {
  readonly violations: Violation[] = [];
  private schemas = 0;

  read(value: unknown, at: FieldPath, depth: number): Schema {
    this.schemas += 1;
    if (this.schemas === MAX_SCHEMAS + 1)
      this.refuse(at, `is one schema more than the ${MAX_SCHEMAS} of one definition`, 'too-many');
    if (this.schemas > MAX_SCHEMAS) return {};
    if (depth > MAX_SCHEMA_DEPTH)
      return this.refuse(at, `must not be nested deeper than ${MAX_SCHEMA_DEPTH} schemas`, 'too-deep');
    if (!isJsonObject(value)) return this.refuse(at, `must be a schema: an object${formatGot(value)}`, 'wrong-type');
    const text = this.annotations(value, at);
    if (value['anyOf'] !== undefined) return { ...text, ...this.alternatives(value, at, depth) };
    if (value['enum'] !== undefined) return { ...text, ...this.values(value, at) };
    if (value['const'] !== undefined) return { ...text, ...this.constant(value, at) };
    return { ...text, ...this.typed(value, at, depth) };
  }

  private refuse(at: FieldPath, reason: string, rule: Violation['rule'] = 'invalid'): Schema {
    this.violations.push(at.violation(reason, rule));
    return {};
  }

  private annotations(value: JsonObject, at: FieldPath): Schema {
    const { title, description, examples } = value;
    for (const [field, text] of Object.entries({ title, description }))
      if (text !== undefined && (typeof text !== 'string' || text.length > MAX_TEXT_LENGTH))
        this.refuse(at.field(field), `must be a text of at most ${MAX_TEXT_LENGTH} characters`, 'wrong-type');
    if (examples !== undefined && !isJsonArray(examples))
      this.refuse(at.field('examples'), 'must be a list', 'wrong-type');
    if (value['default'] !== undefined)
      this.refuse(
        at.field('default'),
        'is not possible: a value filled into one policy would count as set where policies are merged; say in the description what holds without a value',
        'not-allowed',
      );
    return {
      ...(typeof title === 'string' ? { title } : {}),
      ...(typeof description === 'string' ? { description } : {}),
    };
  }

  /** Refuses keywords that are not in `known`. */
  private only(value: JsonObject, known: readonly string[], at: FieldPath): void {
    const all = [...known, ...ANNOTATIONS, 'default'];
    for (const key of Object.keys(value)) {
      if (all.includes(key)) continue;
      const guess = nearest(key, all);
      const hint = guess === undefined ? `; possible here: ${known.join(', ')}` : `; did you mean "${guess}"?`;
      this.refuse(at.field(key), `is not a keyword that a definition may use here${hint}`, 'unknown-field');
    }
  }

  private alternatives(value: JsonObject, at: FieldPath, depth: number): Schema {
    this.only(value, ['anyOf'], at);
    const { anyOf } = value;
    const field = at.field('anyOf');
    if (!isJsonArray(anyOf) || anyOf.length === 0 || anyOf.length > MAX_ALTERNATIVES)
      return this.refuse(field, `must be a list of 1 to ${MAX_ALTERNATIVES} schemas${formatGot(anyOf)}`, 'wrong-type');
    return { anyOf: anyOf.map((one, i) => this.read(one, field.index(i), depth + 1)) };
  }

  private values(value: JsonObject, at: FieldPath): Schema {
    this.only(value, ['type', 'enum'], at);
    const { enum: values } = value;
    const isFine = isJsonArray(values) && values.length > 0 && values.length <= MAX_VALUES && values.every(isScalar);
    if (!isFine)
      return this.refuse(
        at.field('enum'),
        `must be a list of 1 to ${MAX_VALUES} texts, numbers, true or false${formatGot(values)}`,
        'wrong-type',
      );
    values.forEach((one, i) => this.fits(one, value['type'], at.field('enum').index(i)));
    return { ...this.typeOfValues(value, at), enum: values };
  }

  private constant(value: JsonObject, at: FieldPath): Schema {
    this.only(value, ['type', 'const'], at);
    const { const: only } = value;
    if (!isScalar(only ?? null))
      return this.refuse(at.field('const'), `must be a text, a number, true or false${formatGot(only)}`, 'wrong-type');
    this.fits(only, value['type'], at.field('const'));
    return { ...this.typeOfValues(value, at), const: only };
  }

  private typeOfValues({ type }: JsonObject, at: FieldPath): Schema {
    if (type === undefined) return {};
    return isSchemaType(type)
      ? { type }
      : this.refuse(at.field('type'), `must be one of ${TYPES}${formatGot(type)}`, 'not-one-of');
  }

  /** Refuses a value whose type differs from the schema's `type`: no policy could be valid. */
  private fits(value: JsonValue | undefined, type: JsonValue | undefined, at: FieldPath): void {
    if (!isSchemaType(type)) return;
    const isNumber =
      typeof value === 'number' && (type === 'number' || (type === 'integer' && Number.isInteger(value)));
    if (!isNumber && typeof value !== type)
      this.refuse(at, `must be of the type ${type}${formatGot(value)}`, 'wrong-type');
  }

  private typed(value: JsonObject, at: FieldPath, depth: number): Schema {
    const { type } = value;
    if (!isSchemaType(type)) {
      this.only(value, ['type', 'enum', 'const', 'anyOf', ...Object.values(schemaKeywords).flat()], at);
      return this.refuse(
        at.field('type'),
        type === undefined
          ? `is required, or enum, const, anyOf; one of ${TYPES}`
          : `must be one of ${TYPES}${formatGot(type)}`,
        type === undefined ? 'required' : 'not-one-of',
      );
    }
    this.only(value, ['type', ...schemaKeywords[type]], at);
    switch (type) {
      case 'object':
        return { type, ...this.object(value, at, depth) };
      case 'array':
        return { type, ...this.list(value, at, depth) };
      case 'string':
        return { type, ...this.text(value, at, 'maxLength') };
      case 'integer':
      case 'number':
        return {
          type,
          ...this.ordered(this.numbers(value, ['minimum', 'maximum', 'multipleOf'], at), 'minimum', 'maximum', at),
        };
      case 'boolean':
        return { type };
    }
  }

  private object(value: JsonObject, at: FieldPath, depth: number): Schema {
    const { properties = {}, required, additionalProperties = false } = value;
    if (!isJsonObject(properties))
      return this.refuse(at.field('properties'), `must be an object of schemas${formatGot(properties)}`, 'wrong-type');
    const fields = Object.entries(properties).map(([name, inner]): [string, Schema] => {
      const field = at.field('properties').field(name);
      if (name.length > MAX_SCHEMA_BOUNDS.keyLength || name === '')
        this.refuse(field, 'is no name of a field', 'wrong-form');
      return [name, this.read(inner, field, depth + 1)];
    });
    const isMap = additionalProperties !== false;
    const entries =
      typeof additionalProperties === 'boolean'
        ? additionalProperties
        : this.read(additionalProperties, at.field('additionalProperties'), depth + 1);
    const bound = isMap ? DEFAULT_SCHEMA_BOUNDS.maxProperties + fields.length : undefined;
    return {
      ...(fields.length > 0 || !isMap ? { properties: Object.fromEntries(fields) } : {}),
      ...this.required(required, Object.keys(properties), isMap, at.field('required')),
      additionalProperties: entries,
      ...this.bounds(value, ['minProperties', 'maxProperties'], at, bound),
      ...(isMap ? { propertyNames: this.names(value['propertyNames'], at.field('propertyNames')) } : {}),
    };
  }

  private required(value: JsonValue | undefined, known: readonly string[], isMap: boolean, at: FieldPath): Schema {
    if (value === undefined) return {};
    if (!isJsonArray(value) || value.length > MAX_SCHEMA_BOUNDS.maxProperties)
      return this.refuse(at, `must be a list of names of fields${formatGot(value)}`, 'wrong-type');
    const names = value.filter((name): name is string => typeof name === 'string' && (isMap || known.includes(name)));
    value.forEach((name, i) => {
      if (typeof name !== 'string' || !(isMap || known.includes(name)))
        this.refuse(at.index(i), `must name a field of properties${formatGot(name)}`, 'not-one-of');
    });
    return { required: names };
  }

  /** Returns the schema of the keys of a map, with a maximum length. */
  private names(value: JsonValue | undefined, at: FieldPath): Schema {
    const given = value ?? {};
    if (!isJsonObject(given)) return this.refuse(at, 'must be a schema: an object', 'wrong-type');
    this.only(given, ['type', ...schemaKeywords.string], at);
    if (given['type'] !== undefined && given['type'] !== 'string')
      this.refuse(at.field('type'), `must be "string"${formatGot(given['type'])}`, 'not-one-of');
    return { type: 'string', ...this.annotations(given, at), ...this.text(given, at, 'keyLength') };
  }

  private list(value: JsonObject, at: FieldPath, depth: number): Schema {
    if (value['items'] === undefined) this.refuse(at.field('items'), 'is required', 'required');
    return {
      ...this.bounds(value, ['minItems', 'maxItems'], at, DEFAULT_SCHEMA_BOUNDS.maxItems),
      ...(value['items'] === undefined ? {} : { items: this.read(value['items'], at.field('items'), depth + 1) }),
    };
  }

  private text(value: JsonObject, at: FieldPath, bound: 'maxLength' | 'keyLength'): Schema {
    const { not } = value;
    const lengths = this.whole(value, ['minLength', 'maxLength'], MAX_SCHEMA_BOUNDS[bound], at);
    if (not !== undefined && (!isJsonObject(not) || Object.keys(not).join() !== 'pattern'))
      this.refuse(at.field('not'), `must be an object with one field, pattern${formatGot(not)}`, 'wrong-type');
    return {
      ...this.ordered({ maxLength: DEFAULT_SCHEMA_BOUNDS[bound], ...lengths }, 'minLength', 'maxLength', at),
      ...this.pattern(value['pattern'], at.field('pattern')),
      ...(isJsonObject(not) ? { not: this.pattern(not['pattern'], at.field('not').field('pattern')) } : {}),
    };
  }

  /** Returns the keyword `pattern`. As in JSON Schema it matches anywhere in the text unless anchored with `^` and `$`. */
  private pattern(value: JsonValue | undefined, at: FieldPath): Schema {
    if (value === undefined) return {};
    if (typeof value !== 'string') return this.refuse(at, `must be a text${formatGot(value)}`, 'wrong-type');
    const alone = compileExpression(value);
    if (!alone.ok) return this.refuse(at, alone.reason, 'wrong-form');
    const anywhere = compileExpression(`(?s:.*)(?:${value})(?s:.*)`);
    if (!anywhere.ok) return this.refuse(at, anywhere.reason, 'wrong-form');
    return { pattern: value, [PATTERN_TEST]: anywhere.value.matches };
  }

  private bounds(
    value: JsonObject,
    [least, most]: readonly ['minItems', 'maxItems'] | readonly ['minProperties', 'maxProperties'],
    at: FieldPath,
    bound: number | undefined,
  ): Schema {
    const given = this.whole(value, [least, most], MAX_SCHEMA_BOUNDS[most], at);
    return this.ordered(bound === undefined ? given : { [most]: bound, ...given }, least, most, at);
  }

  /** Refuses a lower bound above the upper bound, explicit or default: no value could be valid. */
  private ordered(
    bounds: Schema,
    least: 'minLength' | 'minItems' | 'minProperties' | 'minimum',
    most: 'maxLength' | 'maxItems' | 'maxProperties' | 'maximum',
    at: FieldPath,
  ): Schema {
    const [low, high] = [bounds[least], bounds[most]];
    if (low !== undefined && high !== undefined && low > high)
      this.refuse(at.field(least), `must not be above ${most}, which is ${high}; got ${low}`, 'out-of-range');
    return bounds;
  }

  /** Reads keywords whose values are whole numbers from 0 to `largest`. */
  private whole(value: JsonObject, names: readonly string[], largest: number, at: FieldPath): Schema {
    const given = this.numbers(value, names, at);
    for (const [name, number] of Object.entries(given))
      if (!Number.isInteger(number) || Number(number) < 0 || Number(number) > largest)
        this.refuse(
          at.field(name),
          `must be a whole number from 0 to ${largest}; got ${String(number)}`,
          'out-of-range',
        );
    return given;
  }

  private numbers(value: JsonObject, names: readonly string[], at: FieldPath): Schema {
    const entries = names.flatMap((name): [string, number][] => {
      const number = value[name];
      if (number === undefined) return [];
      if (typeof number === 'number' && (name !== 'multipleOf' || number > 0)) return [[name, number]];
      this.refuse(
        at.field(name),
        `must be a number${name === 'multipleOf' ? ' above 0' : ''}${formatGot(number)}`,
        'wrong-type',
      );
      return [];
    });
    return Object.fromEntries(entries);
  }
}

const TYPES = Object.keys(schemaKeywords).join(', ');

/** Formats a value for a message, shortened to 80 characters. */
function formatGot(value: unknown): string {
  return value === undefined ? '' : `; got ${shortened(JSON.stringify(value), 80)}`;
}

function isSchemaType(type: unknown): type is SchemaType {
  return typeof type === 'string' && Object.hasOwn(schemaKeywords, type);
}

function isScalar(value: JsonValue): boolean {
  return ['string', 'number', 'boolean'].includes(typeof value);
}
