import { readFile, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isCollection, isMap, isNode, isScalar, LineCounter, parseAllDocuments, type Document } from 'yaml';

/** One YAML or JSON document and where it stands. */
export interface SourceDocument {
  readonly file: string;
  /** First line of the document, from 1. */
  readonly line: number;
  readonly value: unknown;
  /** The line of a field such as `spec.ports[0].port`, or of the nearest field above it. */
  readonly lineOf: (field: string) => number;
}

/** A file that cannot be read as YAML; the message has file, line, column and, where known, what to do. */
export class DocumentError extends Error {}

/** Reads files, folders (their .yaml, .yml and .json files, by name) and `-` for standard input. */
export async function readDocuments(paths: readonly string[], stdin: () => Promise<string>): Promise<SourceDocument[]> {
  const files = (await Promise.all(paths.map(expand))).flat();
  const all = await Promise.all(
    files.map(async (file) => parseDocuments(file, file === '-' ? await stdin() : await readFile(file, 'utf8'))),
  );
  return all.flat();
}

async function expand(path: string): Promise<string[]> {
  if (path === '-') return [path];
  const found = await stat(path).catch(() => undefined);
  if (!found) throw new DocumentError(`${path}: no such file or folder`);
  if (!found.isDirectory()) return [path];
  const names = (await readdir(path)).filter((name) => /\.(ya?ml|json)$/.test(name));
  return names.sort().map((name) => join(path, name));
}

/** All documents of one text; throws DocumentError for the first that is no YAML. */
export function parseDocuments(file: string, text: string): SourceDocument[] {
  const lines = new LineCounter();
  const parsed = parseAllDocuments(text, { lineCounter: lines });
  const documents = Array.isArray(parsed) ? parsed : [];
  return documents.map((doc) => toSource(file, doc, lines)).filter((source) => source.value !== null);
}

function toSource(file: string, doc: Document.Parsed, lines: LineCounter): SourceDocument {
  const [error] = doc.errors;
  if (error) {
    const { line, col } = lines.linePos(error.pos[0]);
    throw new DocumentError(`${file}:${line}:${col}: ${firstLine(error.message)}${templateHint(error.message)}`);
  }
  const start = lines.linePos(doc.contents?.range?.[0] ?? 0).line;
  return {
    file,
    line: start,
    value: doc.toJS({ maxAliasCount: 100 }),
    lineOf: (field) => lineOf(doc, field, { lines, start }),
  };
}

function templateHint(message: string): string {
  return message.includes('{') || message.includes('flow')
    ? ` (a template with {{ }} must be quoted: template: '{{ name }}.mesh')`
    : '';
}

function firstLine(message: string): string {
  return message.split('\n')[0] ?? message;
}

function lineOf(
  doc: Document.Parsed,
  field: string,
  at: { readonly lines: LineCounter; readonly start: number },
): number {
  let node: unknown = doc.contents;
  let line = at.start;
  for (const part of fieldParts(field)) {
    if (!isCollection(node)) break;
    if (isMap(node)) {
      const key: unknown = node.items.find((pair) => isScalar(pair.key) && pair.key.value === part)?.key;
      if (isNode(key)) line = at.lines.linePos(key.range?.[0] ?? 0).line;
    }
    node = node.get(typeof part === 'number' ? part : String(part), true);
    if (typeof part === 'number' && isNode(node)) line = at.lines.linePos(node.range?.[0] ?? 0).line;
  }
  return line;
}

/** `spec.ports[0].port` and `labels["kuma.io/zone"]` as keys and positions. */
function fieldParts(field: string): (string | number)[] {
  const parts = field.matchAll(/\["([^"]*)"\]|\[(\d+)\]|([^.[\]]+)/g);
  return [...parts].map(([, quoted, index, word]) => (index === undefined ? (quoted ?? word ?? '') : Number(index)));
}
