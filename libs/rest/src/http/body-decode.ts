import { LineCounter, parseDocument } from 'yaml';
import { HttpFailure } from './http-failure';

/** Media types of bodies, by how they are read. */
export const BODY_TYPES = {
  json: ['application/json', 'application/merge-patch+json'],
  yaml: ['application/yaml', 'application/x-yaml', 'text/yaml', 'text/x-yaml'],
} as const;

const MOST_ALIASES = 100;
const DEEPEST = 100;

/**
 * The value of a request body, JSON or YAML by its media type; without one it is read as YAML, which takes JSON too.
 * Throws 415 for other types and 400 for what cannot be parsed, with line and column (design.md §1, §6).
 */
export function decodeBody(contentType: string | undefined, body: unknown): unknown {
  const reader = readerFor(contentType);
  const text = Buffer.isBuffer(body) ? utf8(body) : '';
  if (text.trim() === '') throw new HttpFailure(400, 'The body is empty; send the resource as JSON or YAML.');
  return reader(text);
}

function readerFor(contentType: string | undefined): (text: string) => unknown {
  if (contentType === undefined || contentType === '') return readYaml;
  const [type = '', ...parameters] = contentType.split(';').map((part) => part.trim().toLowerCase());
  const charset = parameters.find((parameter) => parameter.startsWith('charset='))?.slice('charset='.length);
  if (charset !== undefined && !['utf-8', 'utf8', '"utf-8"', 'us-ascii'].includes(charset)) {
    throw new HttpFailure(415, `The charset ${charset} is not read here; send UTF-8.`);
  }
  if (BODY_TYPES.json.some((known) => known === type)) return readJson;
  if (BODY_TYPES.yaml.some((known) => known === type)) return readYaml;
  throw new HttpFailure(415, `A body of type ${type} is not read here; send application/json or application/yaml.`);
}

function utf8(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new HttpFailure(400, 'The body is not UTF-8 text.', { cause });
  }
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    throw new HttpFailure(400, `The body is not JSON: it cannot be read on from ${jsonPosition(text, cause)}.`, {
      cause,
    });
  }
}

/** Where V8 stopped; its messages differ between versions of Node, the position does not. */
function jsonPosition(text: string, error: unknown): string {
  const position = error instanceof Error ? /position (\d+)/.exec(error.message)?.[1] : undefined;
  const before = position === undefined ? text : text.slice(0, Number(position));
  const lines = before.split('\n');
  return `line ${lines.length}, column ${(lines.at(-1) ?? '').length + 1}`;
}

function readYaml(text: string): unknown {
  refuseDeepNesting(text);
  const lines = new LineCounter();
  try {
    const document = parseDocument(text, {
      lineCounter: lines,
      stringKeys: true,
      logLevel: 'error',
      prettyErrors: false,
    });
    const [error] = document.errors;
    if (error) throw yamlFailure(text, lines.linePos(error.pos[0]), error);
    return document.toJS({ maxAliasCount: MOST_ALIASES }) as unknown;
  } catch (error) {
    if (error instanceof HttpFailure) throw error;
    const reason =
      error instanceof RangeError ? 'it is nested too deeply' : error instanceof Error ? error.message : String(error);
    throw new HttpFailure(400, `The body cannot be read as YAML: ${reason}.`, { cause: error });
  }
}

function yamlFailure(text: string, at: { readonly line: number; readonly col: number }, cause: Error): HttpFailure {
  const line = text.split('\n')[at.line - 1] ?? '';
  const hint = line.includes('{{') ? ` A template needs quotes: template: "{{ name }}.mesh".` : '';
  return new HttpFailure(
    400,
    `The body is not YAML: line ${at.line}, column ${at.col}: ${firstLine(cause.message)}.${hint}`,
    { cause },
  );
}

function firstLine(message: string): string {
  return (message.split('\n')[0] ?? '').replace(/[.:]?\s*$/, '');
}

/** The YAML parser takes time that grows with the square of the nesting; nothing legal is nested like that. */
function refuseDeepNesting(text: string): void {
  let open = 0;
  for (let i = 0; i < text.length; i++) {
    const char = text.charCodeAt(i);
    if (char === 0x5b || char === 0x7b) open++;
    else if (char === 0x5d || char === 0x7d) open--;
    if (open > DEEPEST) throw new HttpFailure(400, 'The body cannot be read as YAML: it is nested too deeply.');
  }
  if (/(?:[-?:][ \t]+){100}/.test(text)) {
    throw new HttpFailure(400, 'The body cannot be read as YAML: it is nested too deeply.');
  }
}
