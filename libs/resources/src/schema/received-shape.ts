import { entrySchema, isLonger, isRecord, ownSchema, type Schema } from './schema';
import { show } from './schema-violations';
import type { FieldPath, Violation, ViolationRule } from '../violation';

/** Longest text where a schema lists the values: what another control plane may know beyond them. */
const LONGEST_WORD = 253;

/**
 * The first place where `value` has another JSON type than the schema or more than it allows (items, entries,
 * characters), or undefined. Every other rule is left out: what arrives by sync may break those. `null` stands for
 * absence, fields and values that nobody knows pass. Linear in the value.
 */
export function shapeViolation(schema: Schema, value: unknown, at: FieldPath): Violation | undefined {
  if (value === null || value === undefined) return undefined;
  if (schema.anyOf) return unionFault(schema.anyOf, value, at);
  if (schema.enum || schema.const !== undefined) return wordFault(schema.enum ?? [schema.const], value, at);
  switch (schema.type) {
    case 'object':
      return isRecord(value) ? objectFault(schema, value, at) : wrong(at, 'wrong-type', 'must be an object', value);
    case 'array':
      return Array.isArray(value) ? arrayFault(schema, value, at) : wrong(at, 'wrong-type', 'must be a list', value);
    case 'string':
      return typeof value === 'string'
        ? textFault(schema.maxLength ?? Infinity, value, at)
        : wrong(at, 'wrong-type', 'must be a string', value);
    case 'integer':
    case 'number':
      return typeof value === 'number' ? undefined : wrong(at, 'wrong-type', 'must be a number', value);
    case 'boolean':
      return typeof value === 'boolean' ? undefined : wrong(at, 'wrong-type', 'must be true or false', value);
    default:
      return undefined;
  }
}

function objectFault(schema: Schema, value: Readonly<Record<string, unknown>>, at: FieldPath): Violation | undefined {
  const { properties = {}, maxProperties = Infinity, propertyNames } = schema;
  const entries = Object.entries(value);
  if (entries.length > maxProperties)
    return at.violation(`must have at most ${maxProperties} entries, has ${entries.length}`, 'too-many');
  for (const [key, item] of entries) {
    const known = ownSchema(properties, key);
    const field = at.field(key);
    const name = known ? undefined : textFault(propertyNames?.maxLength ?? Infinity, key, field);
    if (name) return name;
    const inner = known ?? entrySchema(schema, key);
    const fault = inner && shapeViolation(inner, item, field);
    if (fault) return fault;
  }
  return undefined;
}

function arrayFault({ items, maxItems = Infinity }: Schema, value: readonly unknown[], at: FieldPath) {
  if (value.length > maxItems)
    return at.violation(`must have at most ${maxItems} items, has ${value.length}`, 'too-many');
  if (!items) return undefined;
  for (const [i, item] of value.entries()) {
    const fault = shapeViolation(items, item, at.index(i));
    if (fault) return fault;
  }
  return undefined;
}

function textFault(most: number, value: string, at: FieldPath): Violation | undefined {
  if (!isLonger(value, most)) return undefined;
  return at.violation(`must not be longer than ${most} characters, has ${value.length}`, 'too-long');
}

/** Of a list of words only that it is a word of bounded length; which ones there are another version may know better. */
function wordFault(words: readonly unknown[], value: unknown, at: FieldPath): Violation | undefined {
  const [sample] = words;
  if (typeof value === 'string' && typeof sample === 'string') return textFault(LONGEST_WORD, value, at);
  return typeof value === typeof sample ? undefined : wrong(at, 'wrong-type', `must be a ${typeof sample}`, value);
}

function unionFault(branches: readonly Schema[], value: unknown, at: FieldPath): Violation | undefined {
  const faults = branches.map((branch) => shapeViolation(branch, value, at));
  if (faults.includes(undefined)) return undefined;
  return faults.find((fault) => fault?.rule !== 'wrong-type') ?? wrong(at, 'wrong-type', 'has the wrong type', value);
}

function wrong(at: FieldPath, rule: ViolationRule, reason: string, value: unknown): Violation {
  return at.violation(`${reason}; got ${show(value)}`, rule);
}
