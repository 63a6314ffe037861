import { isMap, isScalar, isSeq, LineCounter, Parser, type CST, type Document, type Node } from 'yaml';
import { FieldPath, Invalid } from '@causeway/resources';
import { composeDocuments, tokenSize, TooManyErrors } from './bounded-compose';
import { badKey, templateBefore, unquotedTemplate } from './document-faults';
import { NoPlainValue, plainValue } from './plain-value';

/** A position in a text; line and column begin at 1. */
export interface TextPosition {
  readonly line: number;
  readonly column: number;
}

/** The text is neither YAML nor JSON, so no field can be checked. REST answers 400 and not 422. */
export class Unparsable extends Invalid {
  constructor(
    reason: string,
    readonly position?: TextPosition,
  ) {
    super([
      FieldPath.at().violation(position ? `line ${position.line}, column ${position.column}: ${reason}` : reason),
    ]);
  }
}

/** One document of a YAML text. */
export interface YamlDocument {
  readonly value: unknown;
  /** Returns the position of `field` (as in violations), or of its nearest existing parent. */
  readonly locate: (field: string) => TextPosition;
}

/** Bounds of a text. */
export interface YamlLimits {
  /** Maximum length of the text, in characters. */
  readonly length?: number;
  /** Maximum number of keys and values in all documents; lists and maps count as well. */
  readonly nodes?: number;
  /** Maximum factor by which aliases may expand a document beyond its text: against YAML bombs. */
  readonly aliases?: number;
}

/**
 * Returns the documents of a YAML (or JSON) text without the empty ones. Throws Unparsable with line and column for
 * syntax errors, repeated keys, keys that are not text, aliases that expand too far, and text that is too long, too
 * deep or has too many values. The message for a template without quotes explains how to quote it (docs/design.md §1).
 */
export function parseYaml(text: string, limits: YamlLimits = {}): readonly YamlDocument[] {
  const { length = 4_194_304, aliases = 10, nodes = Infinity } = limits;
  if (text.length > length) throw new Unparsable(`the text has ${text.length} characters, ${length} are allowed`);
  const lines = new LineCounter();
  const tokens = [...bounded(new Parser(lines.addNewLine).parse(text), nodes)];
  const documents = compose(tokens, text, lines);
  return documents.flatMap((document) => {
    checkDocument(document, text, lines);
    const value = unfold(document, aliases, lines);
    return value === null ? [] : [{ value, locate: (field) => locate(document, field, lines) }];
  });
}

const MAX_DEPTH = 64;

function* bounded(tokens: Iterable<CST.Token>, most: number): Generator<CST.Token> {
  let nodes = 0;
  for (const token of tokens) {
    const size = tokenSize(token, MAX_DEPTH);
    if (size.tooDeep) throw new Unparsable(`the text is nested deeper than ${MAX_DEPTH} levels`);
    nodes += size.nodes;
    if (nodes > most) throw new Unparsable(`the text has more than ${most} keys and values`);
    yield token;
    // The first error refuses the text; a hostile text has hundreds of thousands.
    if (token.type === 'error') return;
  }
}

function compose(tokens: readonly CST.Token[], text: string, lines: LineCounter): readonly Document.Parsed[] {
  try {
    return composeDocuments(tokens);
  } catch (error) {
    if (!(error instanceof TooManyErrors)) throw error;
    const template = templateBefore(error.offset, text);
    if (template) throw new Unparsable(template.reason, positionAt(lines, template.offset));
    throw new Unparsable(firstLine(error.message), positionAt(lines, error.offset));
  }
}

function unfold(document: Document.Parsed, aliases: number, lines: LineCounter): unknown {
  try {
    return plainValue(document, (written) => written * aliases);
  } catch (error) {
    if (error instanceof NoPlainValue) throw new Unparsable(error.message, positionAt(lines, error.offset));
    throw error;
  }
}

function checkDocument(document: Document.Parsed, text: string, lines: LineCounter): void {
  const template = unquotedTemplate(document, text);
  if (template) throw new Unparsable(template.reason, positionAt(lines, template.offset));
  const [error] = document.errors;
  if (error) throw new Unparsable(firstLine(error.message), positionAt(lines, error.pos[0]));
  const key = badKey(document);
  if (key) throw new Unparsable(key.reason, positionAt(lines, key.offset));
}

function firstLine(message: string): string {
  return message.split('\n')[0] ?? message;
}

function positionAt(lines: LineCounter, offset: number): TextPosition {
  const { line, col } = lines.linePos(offset);
  return { line: Math.max(line, 1), column: Math.max(col, 1) };
}

function locate(document: Document.Parsed, field: string, lines: LineCounter): TextPosition {
  let node: unknown = document.contents;
  let offset = document.contents?.range[0] ?? 0;
  for (const part of fieldParts(field)) {
    const step: { readonly node: unknown; readonly offset: number } | undefined = stepInto(node, part);
    if (!step) break;
    node = step.node;
    offset = step.offset;
  }
  return positionAt(lines, offset);
}

function stepInto(node: unknown, part: string): { readonly node: unknown; readonly offset: number } | undefined {
  if (isSeq<Node>(node)) {
    const item = node.items[Number(part)];
    return item?.range ? { node: item, offset: item.range[0] } : undefined;
  }
  if (!isMap(node)) return undefined;
  const pair = node.items.find((item) => isScalar(item.key) && item.key.source === part);
  const start = pair && isScalar(pair.key) ? pair.key.range?.[0] : undefined;
  return pair && start !== undefined ? { node: pair.value, offset: start } : undefined;
}

/** `labels["a.b"].c[0]` → labels, a.b, c, 0. */
function fieldParts(field: string): string[] {
  return [...field.matchAll(/\["((?:[^"]|"(?!\]))*)"\]|\[(\d+)\]|([^.[\]]+)/g)].map((m) => m[1] ?? m[2] ?? m[3] ?? '');
}
