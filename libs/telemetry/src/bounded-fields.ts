import { errorText, type LogFields } from '@causeway/runtime';

/** Maximum length of a text field, in characters. */
const MAX_TEXT_LENGTH = 2_000;
/** Maximum number of list items in a line. */
export const MAX_ITEMS = 20;
/** Maximum number of fields of an object in a line; more than a program has settings. */
const MAX_FIELDS = 100;
/** Maximum total length of the values of a line, in characters. Each value counts as at least `MIN_COST`. */
export const MAX_LINE_LENGTH = 20_000;
const MIN_COST = 10;
/** Maximum nesting of objects in a line. */
const MAX_DEPTH = 4;

/** Returns a text of at most `longest` characters, or the beginning of a longer one with its length. */
export function boundedText(text: string, longest = MAX_TEXT_LENGTH): string {
  return text.length <= longest ? text : `${text.slice(0, longest)}… (${text.length} characters)`;
}

/**
 * Bounds the fields of a log line, so that a peer's text cannot fill the disk. Errors become message and stack. Short
 * values are unchanged.
 */
export function boundedFields(fields: LogFields): LogFields {
  return new LineBudget().object(fields, 0);
}

/** Number of characters left for one line. */
class LineBudget {
  private left = MAX_LINE_LENGTH;

  object(value: object, depth: number): LogFields {
    const result: Record<string, unknown> = {};
    const entries = Object.entries(value);
    for (const [key, held] of entries.slice(0, MAX_FIELDS)) {
      if (this.left <= 0) break;
      result[this.text(key)] = this.value(held, depth);
    }
    const written = Object.keys(result).length;
    if (entries.length > written) result['…'] = `(${entries.length} fields)`;
    return result;
  }

  private value(value: unknown, depth: number): unknown {
    this.left -= MIN_COST;
    if (typeof value === 'string') return this.text(value);
    if (typeof value === 'bigint') return this.text(value.toString());
    if (typeof value !== 'object' || value === null) return value;
    if (value instanceof Error) return { message: this.text(errorText(value)), stack: this.text(value.stack ?? '') };
    if (Array.isArray(value)) return depth < MAX_DEPTH ? this.list(value, depth + 1) : `(${value.length} items)`;
    if (value instanceof Set || value instanceof Map) return `(${value.size} items)`;
    if (ArrayBuffer.isView(value)) return `(${value.byteLength} bytes)`;
    if (value instanceof Date || value instanceof URL) return this.text(value.toJSON());
    return depth < MAX_DEPTH ? this.object(value, depth + 1) : '(an object)';
  }

  private list(list: readonly unknown[], depth: number): unknown[] {
    const items: unknown[] = [];
    for (const item of list.slice(0, MAX_ITEMS)) if (this.left > 0) items.push(this.value(item, depth));
    return list.length > items.length ? [...items, `… (${list.length} items)`] : items;
  }

  private text(text: string): string {
    const short = boundedText(text, Math.max(0, Math.min(MAX_TEXT_LENGTH, this.left)));
    this.left -= short.length;
    return short;
  }
}
