import { explain, isRecord, type Schema } from './schema-reasons';
import type { FieldPath } from './violation';

/** What of a value can be judged further although the value does not fit its schema. */
export interface SoundPart {
  readonly value: unknown;
  /** Paths where `value` is not what was given; what a rule says of these is worth nothing. */
  readonly replaced: readonly string[];
}

/**
 * A copy of `value` in which fields that nobody knows and optional ones that do not fit are left out, and required ones
 * have a stand-in that stands nowhere else in the value: so one misspelt field does not hide which rules the rest breaks.
 */
export function soundPart(schema: Schema, value: unknown, at: FieldPath): SoundPart {
  const repair = new Repair(new Set(scalarsIn(value)));
  return { value: repair.mended(schema, value, at), replaced: repair.replaced };
}

class Repair {
  readonly replaced: string[] = [];

  constructor(private readonly taken: Set<unknown>) {}

  mended(schema: Schema, value: unknown, at: FieldPath): unknown {
    if (explain(schema, value, at).length === 0) return value;
    if (schema.type === 'object' && isRecord(value)) return this.object(schema, value, at);
    if (schema.type === 'array' && Array.isArray(value)) return this.list(schema, value, at);
    this.replaced.push(at.toString());
    return this.standIn(schema);
  }

  private object(schema: Schema, value: Readonly<Record<string, unknown>>, at: FieldPath): object {
    const { properties = {}, required = [] } = schema;
    const known = Object.entries(properties).flatMap(([key, inner]): [string, unknown][] => {
      const item = value[key];
      const needed = required.includes(key);
      if (item === undefined && !needed) return [];
      // What a value of a fixed list is about decides over its neighbours as well.
      if (needed && inner.enum && !inner.enum.includes(item)) this.replaced.push(at.toString());
      if (needed || isMendable(inner, item)) return [[key, this.mended(inner, item, at.field(key))]];
      if (explain(inner, item, at.field(key)).length === 0) return [[key, item]];
      this.replaced.push(at.field(key).toString());
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
    const { properties = {}, patternProperties, additionalProperties } = schema;
    if (additionalProperties === false && !patternProperties) return [];
    const only: Schema = { ...schema, properties: {}, required: [], minProperties: 0 };
    return Object.entries(value).filter(([key, item]) => {
      if (Object.hasOwn(properties, key)) return false;
      if (explain(only, { [key]: item }, at).length === 0) return true;
      this.replaced.push(at.field(key).toString());
      return false;
    });
  }

  private list(schema: Schema, value: readonly unknown[], at: FieldPath): readonly unknown[] {
    const { items, minItems = 0, maxItems = Infinity } = schema;
    if (!items || value.length < minItems || value.length > maxItems) this.replaced.push(at.toString());
    if (!items) return value;
    const kept = value.slice(0, maxItems).map((item, i) => this.mended(items, item, at.index(i)));
    return [...kept, ...Array.from({ length: minItems - kept.length }, () => this.standIn(items))];
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
        return this.free((n) => (schema.minimum ?? 0) + n);
      case 'boolean':
        return false;
      default:
        return this.free((n) => `x${n}`);
    }
  }

  private smallest({ properties = {}, required = [] }: Schema): object {
    return Object.fromEntries(required.map((key) => [key, this.standIn(properties[key] ?? {})]));
  }

  /** The first value that is not taken: an equal one would break rules against repetition. */
  private free(nth: (n: number) => unknown): unknown {
    for (let n = 0; ; n++) {
      const value = nth(n);
      if (this.taken.has(value)) continue;
      this.taken.add(value);
      return value;
    }
  }
}

/** True for what has parts that may be good although the whole is not. */
function isMendable(schema: Schema, value: unknown): boolean {
  return schema.type === 'object' ? isRecord(value) : schema.type === 'array' && Array.isArray(value);
}

function scalarsIn(value: unknown): unknown[] {
  if (typeof value !== 'object' || value === null) return [value];
  return Object.values(value).flatMap(scalarsIn);
}
