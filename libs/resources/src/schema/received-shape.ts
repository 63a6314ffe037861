import { codePoints, entrySchema, isLonger, isRecord, ownSchema, type Schema } from './schema';
import { show } from './schema-violations';
import type { FieldPath, Violation, ViolationRule } from '../violation';

/** Maximum length of an enum value: another control plane may know further values. */
const MAX_WORD_LENGTH = 253;

/**
 * Returns the first field with another JSON type than the schema, or with more items, entries or characters than it
 * allows. No other rule is checked, because synced resources may break those. `null` means absent; unknown fields and
 * values pass. Linear in the value.
 */
export function shapeViolation(schema: Schema, value: unknown, at: FieldPath): Violation | undefined {
  if (value === null || value === undefined) return undefined;
  if (schema.anyOf) return unionViolation(schema.anyOf, value, at);
  if (schema.enum || schema.const !== undefined) return enumViolation(schema.enum ?? [schema.const], value, at);
  switch (schema.type) {
    case 'object':
      return isRecord(value) ? objectViolation(schema, value, at) : wrong(at, 'wrong-type', 'must be an object', value);
    case 'array':
      return Array.isArray(value)
        ? arrayViolation(schema, value, at)
        : wrong(at, 'wrong-type', 'must be a list', value);
    case 'string':
      return typeof value === 'string'
        ? textViolation(schema.maxLength ?? Infinity, value, at)
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

function objectViolation(
  schema: Schema,
  value: Readonly<Record<string, unknown>>,
  at: FieldPath,
): Violation | undefined {
  const { properties = {}, maxProperties = Infinity, propertyNames } = schema;
  const entries = Object.entries(value);
  if (entries.length > maxProperties)
    return at.violation(`must have at most ${maxProperties} entries, has ${entries.length}`, 'too-many');
  for (const [key, item] of entries) {
    const known = ownSchema(properties, key);
    const field = at.field(key);
    const name = known ? undefined : textViolation(propertyNames?.maxLength ?? Infinity, key, field);
    if (name) return name;
    const inner = known ?? entrySchema(schema, key);
    const fault = inner && shapeViolation(inner, item, field);
    if (fault) return fault;
  }
  return undefined;
}

function arrayViolation({ items, maxItems = Infinity }: Schema, value: readonly unknown[], at: FieldPath) {
  if (value.length > maxItems)
    return at.violation(`must have at most ${maxItems} items, has ${value.length}`, 'too-many');
  if (!items) return undefined;
  for (const [i, item] of value.entries()) {
    const fault = shapeViolation(items, item, at.index(i));
    if (fault) return fault;
  }
  return undefined;
}

function textViolation(most: number, value: string, at: FieldPath): Violation | undefined {
  if (!isLonger(value, most)) return undefined;
  return at.violation(`must not be longer than ${most} characters, has ${codePoints(value)}`, 'too-long');
}

/** Checks only type and length of an enum value, because another version may know further values. */
function enumViolation(words: readonly unknown[], value: unknown, at: FieldPath): Violation | undefined {
  const [sample] = words;
  if (typeof value === 'string' && typeof sample === 'string') return textViolation(MAX_WORD_LENGTH, value, at);
  return typeof value === typeof sample ? undefined : wrong(at, 'wrong-type', `must be a ${typeof sample}`, value);
}

function unionViolation(branches: readonly Schema[], value: unknown, at: FieldPath): Violation | undefined {
  const faults = branches.map((branch) => shapeViolation(branch, value, at));
  if (faults.includes(undefined)) return undefined;
  return faults.find((fault) => fault?.rule !== 'wrong-type') ?? wrong(at, 'wrong-type', 'has the wrong type', value);
}

function wrong(at: FieldPath, rule: ViolationRule, reason: string, value: unknown): Violation {
  return at.violation(`${reason}; got ${show(value)}`, rule);
}
