import { readFile, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { JsonDocuments, parseYaml, Unparsable, type TextPosition, type YamlDocument } from '@causeway/yaml';

/** Maximum length of a file, in characters. */
const MAX_FILE_LENGTH = 64 * 1024 * 1024;

/** One YAML or JSON document and its position. */
export interface SourceDocument {
  readonly file: string;
  /** First line of the document, from 1. */
  readonly line: number;
  readonly value: unknown;
  /** Returns the line of a field such as `spec.ports[0].port`, or of the nearest field above it. */
  readonly lineOf: (field: string) => number;
  /** Returns its line and column, as `4:7`. */
  readonly placeOf: (field: string) => string;
}

/** An invalid file; the message has file, line, column and, if known, the remedy. */
export class DocumentError extends Error {}

/** File names that are read in a folder. */
const DOCUMENTS = /\.(ya?ml|json|ndjson|jsonl)$/;

/** Reads files, folders (their files with matching names, sorted) and `-` for standard input. */
export async function readDocuments(
  paths: readonly string[],
  stdin: () => Promise<string>,
  names: RegExp = DOCUMENTS,
): Promise<SourceDocument[]> {
  const files = (await Promise.all(paths.map((path) => expand(path, names)))).flat();
  const all = await Promise.all(
    files.map(async (file) => parseDocuments(file, file === '-' ? await stdin() : await readFile(file, 'utf8'))),
  );
  return all.flat();
}

async function expand(path: string, fitting: RegExp): Promise<string[]> {
  if (path === '-') return [path];
  const found = await stat(path).catch(() => undefined);
  if (!found) throw new DocumentError(`${path}: no such file or folder`);
  if (!found.isDirectory()) return [path];
  const names = (await readdir(path)).filter((name) => fitting.test(name));
  return names.sort().map((name) => join(path, name));
}

/** Parses all documents of a text. Throws DocumentError if it is not YAML. */
export function parseDocuments(file: string, text: string): SourceDocument[] {
  return (readJson(text) ?? readYaml(file, text)).map(({ value, locate }) => ({
    file,
    line: locate('').line,
    value,
    lineOf: (field) => locate(field).line,
    placeOf: (field) => {
      const { line, column } = locate(field);
      return `${line}:${column}`;
    },
  }));
}

/** Parses JSON and JSON lines, a hundred times faster than YAML. Undefined for other texts: the YAML parser reports the fault. */
function readJson(text: string): readonly YamlDocument[] | undefined {
  if (!/^[\s\ufeff]*[[{]/.test(text)) return undefined;
  const splitter = new JsonDocuments({ documents: Infinity, bytes: MAX_FILE_LENGTH });
  try {
    const found = splitter.push(Buffer.from(text));
    splitter.finish();
    return found.map(({ bytes, position }) => {
      const value: unknown = JSON.parse(bytes.toString());
      return { value, locate: (field) => locateIn(bytes.toString(), position, field) };
    });
  } catch {
    return undefined;
  }
}

/** Returns the position of a field of a JSON object that begins at `start` of its file. */
function locateIn(text: string, start: TextPosition, field: string): TextPosition {
  const [document] = field === '' ? [] : parseYaml(text);
  if (!document) return start;
  const { line, column } = document.locate(field);
  return { line: start.line + line - 1, column: line === 1 ? start.column + column - 1 : column };
}

function readYaml(file: string, text: string): readonly YamlDocument[] {
  try {
    return parseYaml(text, { length: MAX_FILE_LENGTH });
  } catch (error) {
    if (!(error instanceof Unparsable)) throw error;
    throw new DocumentError(`${file}: ${error.violations.map(({ reason }) => reason).join('; ')}`, { cause: error });
  }
}
