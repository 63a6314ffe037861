import { ReplacedFields } from './replaced-fields';
import { isRecord, ownSchema, type Schema } from './schema';
import { addSchemaViolations } from './schema-violations';
import type { FieldPath } from '../violation';
import { Violations } from '../violations';

/** What of a value can be judged further although the value does not fit its schema. */
export interface ValidSubset {
  readonly value: unknown;
  /** Where `value` is not what was given; what a rule says of these fields is worth nothing. */
  readonly replaced: ReplacedFields;
}

/**
 * A copy of `value` in which fields that nobody knows and optional ones that do not fit are left out, and required ones
 * have a stand-in that stands nowhere else in the value: so one misspelt field does not hide which rules the rest breaks.
 */
export function validSubset(schema: Schema, value: unknown, at: FieldPath): ValidSubset {
  const repair = new Repair(new Set(scalarsIn(value)));
  return { value: repair.mended(schema, value, at), replaced: repair.replaced };
}

class Repair {
  readonly replaced = new ReplacedFields();
  /** How many stand-ins were tried of each sequence: a next one goes on there. */
  private readonly tried = new Map<number | string, number>();

  constructor(private readonly taken: Set<unknown>) {}

  mended(schema: Schema, value: unknown, at: FieldPath): unknown {
    if (fits(schema, value, at)) return value;
    if (schema.type === 'object' && isRecord(value)) return this.object(schema, value, at);
    if (schema.type === 'array' && Array.isArray(value)) return this.list(schema, value, at);
    this.replaced.add(at);
    return this.standIn(schema);
  }

  private object(schema: Schema, value: Readonly<Record<string, unknown>>, at: FieldPath): object {
    const { properties = {}, required = [] } = schema;
    const known = Object.entries(properties).flatMap(([key, inner]): [string, unknown][] => {
      const item = Object.hasOwn(value, key) ? value[key] : undefined;
      const needed = required.includes(key);
      if (item === undefined && !needed) return [];
      // What a value of a fixed list is about decides over its neighbours as well.
      if (needed && inner.enum && !inner.enum.includes(item)) this.replaced.add(at);
      if (needed || isMendable(inner, item)) return [[key, this.mended(inner, item, at.field(key))]];
      if (fits(inner, item, at.field(key))) return [[key, item]];
      this.replaced.add(at.field(key));
      return [];
    });
    return Object.fromEntries([...known, ...this.others(schema, value, at)]);
  }

  /** The entries that no property describes: labels, tags. */
  private others(
    schema: Schema,
    value: Readonly<Record<string, unknown>>,
    at: FieldPath,
  ): readonly (readonly [string, unknown])[] {
    const { properties = {}, patternProperties, additionalProperties, maxProperties = Infinity } = schema;
    if (additionalProperties === false && !patternProperties) return [];
    const entries = Object.entries(value);
    if (entries.length > maxProperties) {
      this.replaced.add(at);
      return [];
    }
    const only: Schema = { ...schema, properties: {}, required: [], minProperties: 0 };
    return entries.filter(([key, item]) => {
      if (ownSchema(properties, key)) return false;
      // An entry called `__proto__` must become a field of its own here too.
      if (fits(only, Object.fromEntries([[key, item]]), at)) return true;
      this.replaced.add(at.field(key));
      return false;
    });
  }

  private list(schema: Schema, value: readonly unknown[], at: FieldPath): readonly unknown[] {
    const { items, minItems = 0, maxItems = Infinity } = schema;
    if (!items || value.length < minItems || value.length > maxItems) this.replaced.add(at);
    if (!items) return value;
    // Of a list that is too long nothing is judged.
    const judged = value.length > maxItems ? [] : value;
    const kept = judged.map((item, i) => this.mended(items, item, at.index(i)));
    return [...kept, ...Array.from({ length: Math.max(0, minItems - kept.length) }, () => this.standIn(items))];
  }

  private standIn(schema: Schema): unknown {
    if (schema.const !== undefined) return schema.const;
    if (schema.enum) return schema.enum[0];
    if (schema.anyOf?.[0]) return this.standIn(schema.anyOf[0]);
    switch (schema.type) {
      case 'object':
        return this.smallest(schema);
      case 'array':
        return Array.from({ length: schema.minItems ?? 0 }, () => this.standIn(schema.items ?? {}));
      case 'integer':
      case 'number':
        return this.free(schema.minimum ?? 0, (n) => (schema.minimum ?? 0) + n);
      case 'boolean':
        return false;
      default:
        return this.free('', (n) => `x${n}`);
    }
  }

  private smallest({ properties = {}, required = [] }: Schema): object {
    return Object.fromEntries(required.map((key) => [key, this.standIn(properties[key] ?? {})]));
  }

  /** The next value of a sequence that is not taken: an equal one would break rules against repetition. */
  private free(sequence: number | string, nth: (n: number) => unknown): unknown {
    for (let n = this.tried.get(sequence) ?? 0; ; n++) {
      const value = nth(n);
      if (this.taken.has(value)) continue;
      this.taken.add(value);
      this.tried.set(sequence, n + 1);
      return value;
    }
  }
}

function fits(schema: Schema, value: unknown, at: FieldPath): boolean {
  const found = new Violations(0);
  addSchemaViolations(schema, value, at, found);
  return found.total === 0;
}

/** True for what has parts that may be good although the whole is not. */
function isMendable(schema: Schema, value: unknown): boolean {
  return schema.type === 'object' ? isRecord(value) : schema.type === 'array' && Array.isArray(value);
}

/** All texts, numbers and truth values in a value, however deep it is. */
function* scalarsIn(value: unknown): Generator<unknown> {
  const open: unknown[] = [value];
  while (open.length > 0) {
    const next = open.pop();
    if (typeof next !== 'object' || next === null) yield next;
    else for (const inner of Object.values(next)) open.push(inner);
  }
}
