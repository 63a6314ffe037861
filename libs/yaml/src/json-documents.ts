import { Unparsable, type TextPosition } from './parse-yaml';

/** One JSON object of a text. */
export interface JsonDocument {
  /** The object as UTF-8; not parsed. */
  readonly bytes: Buffer;
  readonly position: TextPosition;
}

/** Bounds of a text of JSON documents. */
export interface JsonDocumentLimits {
  /** Maximum number of documents. */
  readonly documents: number;
  /** Maximum size of a document, in bytes. */
  readonly bytes: number;
}

const [NEWLINE, QUOTE, BACKSLASH, COMMA] = [0x0a, 0x22, 0x5c, 0x2c];
const [OPEN_LIST, CLOSE_LIST, OPEN, CLOSE] = [0x5b, 0x5d, 0x7b, 0x7d];
const BLANKS: readonly number[] = [0x20, 0x09, 0x0d, NEWLINE];
const BYTE_ORDER_MARK: readonly number[] = [0xef, 0xbb, 0xbf];

/** Tokens that may come next at the top level of the text. */
type Expected = 'first' | 'object' | 'item' | 'first item' | 'comma' | 'nothing';

/**
 * Splits a text that arrives in pieces into JSON objects: JSON lines, concatenated objects, one object, or an array of
 * objects. Linear in the text and without recursion. It only finds where objects begin and end; syntax errors inside
 * are found when an object is parsed. Throws Unparsable, with line and column, for anything else between the objects,
 * for a text that ends inside an object, and above the limits.
 */
export class JsonDocuments {
  private expected: Expected = 'first';
  private line = 1;
  private column = 1;
  private found = 0;
  private offset = 0;
  /** The current, unfinished object. */
  private begun: { readonly position: TextPosition; readonly pieces: Buffer[]; bytes: number } | undefined;
  private depth = 0;
  private inString = false;
  private escaped = false;

  constructor(private readonly limits: JsonDocumentLimits) {}

  /** Returns the objects that end in this piece of the text. */
  push(piece: Buffer): readonly JsonDocument[] {
    const documents: JsonDocument[] = [];
    let from = 0;
    for (let at = 0; at < piece.length; at++) {
      const byte = piece[at] ?? 0;
      if (!this.begun && this.begins(byte)) from = at;
      if (this.begun && this.inside(byte)) {
        documents.push(this.end(piece.subarray(from, at + 1)));
      }
      this.advance(byte);
    }
    if (this.begun) this.keep(piece.subarray(from));
    return documents;
  }

  /** Must be called at the end of the text. */
  finish(): void {
    if (this.begun) {
      const { line, column } = this.begun.position;
      throw this.unparsable(`the text ends inside the object that begins at line ${line}, column ${column}`);
    }
    if (this.expected !== 'first' && this.expected !== 'object' && this.expected !== 'nothing')
      throw this.unparsable('the text ends inside the list');
  }

  /** Checks a byte between objects; true if an object begins with it. */
  private begins(byte: number): boolean {
    if (BLANKS.includes(byte) || (this.offset < 3 && byte === BYTE_ORDER_MARK[this.offset])) return false;
    if (byte === OPEN && this.expected !== 'comma' && this.expected !== 'nothing') {
      this.found += 1;
      if (this.found > this.limits.documents)
        throw this.unparsable(`there are more than ${this.limits.documents} documents`);
      this.begun = { position: this.position, pieces: [], bytes: 0 };
      return true;
    }
    const next = this.after(byte);
    if (!next) throw this.unparsable(`${EXPECTED[this.expected]} must stand here, not ${shown(byte)}`);
    this.expected = next;
    return false;
  }

  /** Returns what may follow a byte between objects; undefined if the byte is not allowed here. */
  private after(byte: number): Expected | undefined {
    if (byte === OPEN_LIST && this.expected === 'first') return 'first item';
    if (byte === COMMA && this.expected === 'comma') return 'item';
    if (byte === CLOSE_LIST && (this.expected === 'comma' || this.expected === 'first item')) return 'nothing';
    return undefined;
  }

  /** Processes a byte of an object; true if the object ends with it. */
  private inside(byte: number): boolean {
    if (this.inString) {
      if (this.escaped) this.escaped = false;
      else if (byte === BACKSLASH) this.escaped = true;
      else if (byte === QUOTE) this.inString = false;
      return false;
    }
    if (byte === QUOTE) this.inString = true;
    else if (byte === OPEN || byte === OPEN_LIST) this.depth += 1;
    else if (byte === CLOSE || byte === CLOSE_LIST) this.depth -= 1;
    return this.depth === 0;
  }

  private end(last: Buffer): JsonDocument {
    const document = this.keep(last);
    this.begun = undefined;
    const inList = this.expected === 'item' || this.expected === 'first item';
    this.expected = inList ? 'comma' : 'object';
    const [only] = document.pieces;
    return {
      bytes: only && document.pieces.length === 1 ? only : Buffer.concat(document.pieces),
      position: document.position,
    };
  }

  private keep(piece: Buffer): NonNullable<JsonDocuments['begun']> {
    const { begun } = this;
    if (!begun) throw new Error('no object has begun');
    begun.pieces.push(piece);
    begun.bytes += piece.length;
    if (begun.bytes <= this.limits.bytes) return begun;
    const { line, column } = begun.position;
    throw new Unparsable(`the document has more than ${this.limits.bytes} bytes`, { line, column });
  }

  /** Advances the position. Columns count characters: only the first byte of a UTF-8 character counts. */
  private advance(byte: number): void {
    this.offset += 1;
    if (byte === NEWLINE) {
      this.line += 1;
      this.column = 1;
    } else if ((byte & 0xc0) !== 0x80) this.column += 1;
  }

  private get position(): TextPosition {
    return { line: this.line, column: this.column };
  }

  private unparsable(reason: string): Unparsable {
    return new Unparsable(reason, this.position);
  }
}

const EXPECTED: Readonly<Record<Expected, string>> = {
  first: 'a JSON object or a list of objects',
  object: 'a JSON object',
  item: 'a JSON object',
  'first item': 'a JSON object or "]"',
  comma: '"," or "]"',
  nothing: 'nothing more',
};

function shown(byte: number): string {
  return byte > 0x20 && byte < 0x7f
    ? `"${String.fromCharCode(byte)}"`
    : `the byte 0x${byte.toString(16).padStart(2, '0')}`;
}
