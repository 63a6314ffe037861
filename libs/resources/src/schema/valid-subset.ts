import { Violations, type FieldPath } from '../violation';
import { isRecord, ownSchema, type Schema } from './schema';
import { addSchemaViolations } from './schema-violations';

/** The part of an invalid value that further rules can check. */
export interface ValidSubset {
  readonly value: unknown;
  /** Fields in which `value` differs from the input; their violations must be ignored. */
  readonly replaced: ReplacedFields;
}

/**
 * Returns a copy of `value` without unknown fields and without optional fields that do not fit; required fields that do not fit
 * get a placeholder that occurs nowhere else in the value. So a misspelt field does not hide violations of others.
 */
export function validSubset(schema: Schema, value: unknown, at: FieldPath): ValidSubset {
  const repair = new Repair(new Set(scalarsIn(value)));
  return { value: repair.mended(schema, value, at), replaced: repair.replaced };
}

class Repair {
  readonly replaced = new ReplacedFields();
  /** The next placeholder of each sequence. */
  private readonly tried = new Map<number | string, number>();

  constructor(private readonly taken: Set<unknown>) {}

  mended(schema: Schema, value: unknown, at: FieldPath): unknown {
    if (fits(schema, value, at)) return value;
    if (schema.type === 'object' && isRecord(value)) return this.object(schema, value, at);
    if (schema.type === 'array' && Array.isArray(value)) return this.list(schema, value, at);
    this.replaced.add(at);
    return this.placeholder(schema);
  }

  private object(schema: Schema, value: Readonly<Record<string, unknown>>, at: FieldPath): object {
    const { properties = {}, required = [] } = schema;
    const known = Object.entries(properties).flatMap(([key, inner]): [string, unknown][] => {
      const item = Object.hasOwn(value, key) ? value[key] : undefined;
      const needed = required.includes(key);
      if (item === undefined && !needed) return [];
      // The value of an enum also determines how its neighbours are read.
      if (needed && inner.enum && !inner.enum.includes(item)) this.replaced.add(at);
      if (needed || isMendable(inner, item)) return [[key, this.mended(inner, item, at.field(key))]];
      if (fits(inner, item, at.field(key))) return [[key, item]];
      this.replaced.add(at.field(key));
      return [];
    });
    return Object.fromEntries([...known, ...this.others(schema, value, at)]);
  }

  /** Returns the entries that are not properties: labels, tags. */
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
      // An entry called `__proto__` must become an own field here too.
      if (fits(only, Object.fromEntries([[key, item]]), at)) return true;
      this.replaced.add(at.field(key));
      return false;
    });
  }

  private list(schema: Schema, value: readonly unknown[], at: FieldPath): readonly unknown[] {
    const { items, minItems = 0, maxItems = Infinity } = schema;
    if (!items || value.length < minItems || value.length > maxItems) this.replaced.add(at);
    if (!items) return value;
    // A list that is too long is not traversed.
    const checked = value.length > maxItems ? [] : value;
    const kept = checked.map((item, i) => this.mended(items, item, at.index(i)));
    return [...kept, ...Array.from({ length: Math.max(0, minItems - kept.length) }, () => this.placeholder(items))];
  }

  private placeholder(schema: Schema): unknown {
    if (schema.const !== undefined) return schema.const;
    if (schema.enum) return schema.enum[0];
    if (schema.anyOf?.[0]) return this.placeholder(schema.anyOf[0]);
    switch (schema.type) {
      case 'object':
        return this.smallest(schema);
      case 'array':
        return Array.from({ length: schema.minItems ?? 0 }, () => this.placeholder(schema.items ?? {}));
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
    return Object.fromEntries(required.map((key) => [key, this.placeholder(properties[key] ?? {})]));
  }

  /** Returns the next value of a sequence that is not in the input: a repeated value would break rules of uniqueness. */
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

/** True if parts of the value may fit although the whole does not. */
function isMendable(schema: Schema, value: unknown): boolean {
  return schema.type === 'object' ? isRecord(value) : schema.type === 'array' && Array.isArray(value);
}

/** Returns all strings, numbers and booleans in a value, however deeply nested. */
function* scalarsIn(value: unknown): Generator<unknown> {
  const open: unknown[] = [value];
  while (open.length > 0) {
    const next = open.pop();
    if (typeof next !== 'object' || next === null) yield next;
    else for (const inner of Object.values(next)) open.push(inner);
  }
}

/** The fields of a value that were replaced. */
export class ReplacedFields {
  private readonly fields = new Set<string>();
  /** The replaced fields and all their parents. */
  private readonly around = new Set<string>();

  /** Records that `at` was replaced. */
  add(at: FieldPath): void {
    const field = at.toString();
    this.fields.add(field);
    for (const outer of outerFields(field)) this.around.add(outer);
  }

  /** Lists the replaced fields in the order of replacement. */
  list(): readonly string[] {
    return [...this.fields];
  }

  /** True if `field` (as violations name it), one of its parents, or one of its children was replaced. */
  concern(field: string): boolean {
    if (this.around.has(field)) return true;
    for (const outer of outerFields(field)) if (this.fields.has(outer)) return true;
    return false;
  }
}

/** `a.b[0]` → `a`, `a.b`, `a.b[0]`. A dot in a quoted name gives prefixes that are not the name of any field. */
function* outerFields(field: string): Generator<string> {
  for (let i = 1; i < field.length; i++) {
    const char = field.charAt(i);
    if (char === '.' || char === '[') yield field.slice(0, i);
  }
  yield field;
}
