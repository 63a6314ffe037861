import { isAlias, isMap, isScalar, isSeq, type Document } from 'yaml';

/** A value to which aliases may refer, and its size with aliases expanded: number of values plus characters. */
interface Unfolded {
  readonly value: unknown;
  readonly size: number;
}

/** Thrown for a document that is not plain JSON data. */
export class NoPlainValue extends Error {
  constructor(
    message: string,
    readonly offset: number,
  ) {
    super(message);
  }
}

/**
 * Converts a document to plain JSON data; aliases share the value to which they refer. Throws NoPlainValue for an alias
 * without an anchor before it, for values that JSON does not have, and if aliases make the document larger than
 * `most(written size)`. Linear in the text: the library's own conversion searches each anchor from the start.
 */
export function plainValue(document: Document.Parsed, most: (written: number) => number): unknown {
  const reading = new PlainValueReader();
  const { value, size } = reading.unfold(document.contents);
  if (size <= most(reading.written)) return value;
  throw new NoPlainValue('aliases: they make the document too large', 0);
}

class PlainValueReader {
  /** Size of the text without expanding aliases. */
  written = 0;
  private readonly anchors = new Map<string, Unfolded>();

  unfold(node: unknown): Unfolded {
    this.written += ownSize(node);
    if (isAlias(node)) return this.anchored(node.source, node.range?.[0] ?? 0);
    const read = this.read(node);
    if (isScalar(node) || isMap(node) || isSeq(node))
      if (node.anchor !== undefined) this.anchors.set(node.anchor, read);
    return read;
  }

  private anchored(name: string, offset: number): Unfolded {
    const found = this.anchors.get(name);
    if (found) return found;
    throw new NoPlainValue(`aliases: Unresolved alias (the anchor must be set before the alias): ${name}`, offset);
  }

  private read(node: unknown): Unfolded {
    if (isScalar(node)) return { value: jsonScalar(node.value, node.range?.[0] ?? 0), size: ownSize(node) };
    let size = ownSize(node);
    const inner = (item: unknown): unknown => {
      const { value, size: more } = this.unfold(item);
      size += more;
      return value;
    };
    if (isSeq(node)) {
      const value = node.items.map(inner);
      return { value, size };
    }
    if (isMap(node)) {
      const value = Object.fromEntries(node.items.map(({ key, value: item }) => [formatMapKey(key), inner(item)]));
      return { value, size };
    }
    return { value: null, size };
  }
}

/** Returns one for the value, plus the characters of a string. */
function ownSize(node: unknown): number {
  return isScalar(node) && typeof node.value === 'string' ? 1 + node.value.length : 1;
}

function formatMapKey(key: unknown): string {
  return String(isScalar(key) ? key.value : key);
}

function jsonScalar(value: unknown, offset: number): unknown {
  if (value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
    return value;
  if (value === undefined) return null;
  throw new NoPlainValue('a value with a tag that JSON does not have', offset);
}
