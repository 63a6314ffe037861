import { parseYaml, Unparsable, type TextPosition } from '@causeway/yaml';
import { isJsonObject } from '@causeway/resources';
import type { RestLimits } from '../rest-dependencies';
import { HttpError, truncated, unparsableDetail } from './http-error';

/** Media types of bodies, by format. */
const BODY_TYPES = {
  json: ['application/json', 'application/merge-patch+json'],
  yaml: ['application/yaml', 'application/x-yaml', 'text/yaml', 'text/x-yaml'],
} as const;

/** Format of a body. */
export type BodyFormat = keyof typeof BODY_TYPES;

/** Maximum size of bodies parsed on the main thread, bytes: larger ones would block the event loop for too long. */
export const MAX_INLINE_BYTES: Readonly<Record<BodyFormat, number>> = { json: 64 * 1024, yaml: 8 * 1024 };

/** Maximum number of YAML nodes, which bounds parsing time; no resource needs as many. */
const MAX_YAML_NODES = 20_000;

/**
 * Decodes a small request body, JSON or YAML by its media type; without one as YAML, which includes JSON. Throws 415
 * for other types, 413 for larger bodies and 400 for syntax errors, with line and column (docs/design.md §1, §6).
 */
export function decodeBody(contentType: string | undefined, body: unknown): unknown {
  const format = bodyFormat(contentType);
  const bytes = Buffer.isBuffer(body) ? body : Buffer.alloc(0);
  const most = MAX_INLINE_BYTES[format];
  if (bytes.length <= most) return parseBody(format, bytes);
  throw new HttpError(413, `The body of this request may have ${most} bytes, this one has ${bytes.length}.`);
}

/** Returns the format of a body of this media type; throws 415 for an unsupported one. */
export function bodyFormat(contentType: string | undefined): BodyFormat {
  if (contentType === undefined || contentType === '') return 'yaml';
  const [type = '', ...parameters] = contentType.split(';').map((part) => part.trim().toLowerCase());
  const charset = parameters.find((parameter) => parameter.startsWith('charset='))?.slice('charset='.length);
  if (charset !== undefined && !['utf-8', 'utf8', '"utf-8"', 'us-ascii'].includes(charset)) {
    throw new HttpError(415, `The charset ${truncated(charset)} is not read here; send UTF-8.`);
  }
  if (BODY_TYPES.json.some((known) => known === type)) return 'json';
  if (BODY_TYPES.yaml.some((known) => known === type)) return 'yaml';
  const detail = `A body of type ${truncated(type)} is not read here; send application/json or application/yaml.`;
  throw new HttpError(415, detail);
}

/** Media types of JSON lines, which batches accept. */
const LINES_TYPES: readonly string[] = ['application/x-ndjson', 'application/jsonl'];

/** Returns the format of a batch's body: as `bodyFormat`, and JSON lines. */
export function batchFormat(contentType: string | undefined): BodyFormat {
  const [type = ''] = (contentType ?? '').split(';');
  if (!LINES_TYPES.includes(type.trim().toLowerCase())) return bodyFormat(contentType);
  return bodyFormat((contentType ?? '').replace(type, BODY_TYPES.json[0]));
}

/** Throws 413 for YAML above its limit. */
export function checkYamlLength(format: BodyFormat, bytes: Uint8Array, limits: Pick<RestLimits, 'yaml'>): void {
  if (format === 'json' || bytes.length <= limits.yaml) return;
  const detail = `A body in YAML may have ${limits.yaml} bytes, this one has ${bytes.length}; send it as JSON.`;
  throw new HttpError(413, detail);
}

/** Parses a body. Throws HttpError. */
export function parseBody(format: BodyFormat, bytes: Uint8Array): unknown {
  const text = decodeUtf8(bytes);
  if (text.trim() === '') throw emptyBodyError();
  return format === 'json' ? readJson(text) : readYaml(text);
}

/** Decodes UTF-8. Throws 400. */
export function decodeUtf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new HttpError(400, 'The body is not UTF-8 text.', { cause });
  }
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    const { line, column } = jsonErrorPosition(text, cause);
    throw new HttpError(400, `The body is not JSON: it cannot be read on from line ${line}, column ${column}.`, {
      cause,
    });
  }
}

/**
 * Returns the position of an error of JSON.parse; V8's messages differ between versions of Node, the position does not.
 */
export function jsonErrorPosition(text: string, error: unknown): TextPosition {
  const position = error instanceof Error ? /position (\d+)/.exec(error.message)?.[1] : undefined;
  const before = position === undefined ? text : text.slice(0, Number(position));
  const lines = before.split('\n');
  return { line: lines.length, column: (lines.at(-1) ?? '').length + 1 };
}

function readYaml(text: string): unknown {
  const [document, ...more] = yamlDocuments(text);
  if (!document) throw emptyBodyError();
  if (more.length > 0)
    throw new HttpError(400, `The body has ${more.length + 1} documents; send one resource at a time.`);
  return document.value;
}

/** Converts Unparsable to HttpError here, so that a worker has one type of error only. */
function yamlDocuments(text: string, nodes = MAX_YAML_NODES): ReturnType<typeof parseYaml> {
  try {
    return parseYaml(text, { nodes });
  } catch (error) {
    throw error instanceof Unparsable ? new HttpError(400, unparsableDetail(error), { cause: error }) : error;
  }
}

/** Returns the error for an empty body. */
export function emptyBodyError(): HttpError {
  return new HttpError(400, 'The body is empty; send the resource as JSON or YAML.');
}

/** A message to the body worker. `documents` requests all documents of a YAML text as a list of LocatedValue. */
export interface ParseRequest {
  readonly format: BodyFormat | 'documents';
  readonly bytes: Uint8Array;
}

/** A document of a YAML text; line and column begin at 1. */
export interface LocatedValue {
  readonly value: unknown;
  readonly line: number;
  readonly column: number;
}

/** Maximum number of keys and values of all documents of a YAML text. */
const MAX_YAML_DOCUMENT_NODES = 100_000;

/** Parses all documents of a YAML text. Throws 400. */
export function parseDocuments(bytes: Uint8Array): readonly LocatedValue[] {
  return yamlDocuments(decodeUtf8(bytes), MAX_YAML_DOCUMENT_NODES).map(({ value, locate }) => ({
    value,
    ...locate(''),
  }));
}

/** True for a LocatedValue; messages between threads have no type. */
export function isLocatedValue(value: unknown): value is LocatedValue {
  return (
    typeof value === 'object' &&
    value !== null &&
    'value' in value &&
    'line' in value &&
    'column' in value &&
    typeof value.line === 'number' &&
    typeof value.column === 'number'
  );
}

/** A message from the body worker: `ready` once, then one result for each request. */
export type BodyParseResult =
  | { readonly type: 'ready' | 'fine' }
  | { readonly type: 'value'; readonly value: unknown }
  | { readonly type: 'failure'; readonly status: number; readonly detail: string };

/** True for a ParseRequest; messages between threads have no type. */
export function isParseRequest(message: unknown): message is ParseRequest {
  if (typeof message !== 'object' || message === null || !('format' in message) || !('bytes' in message)) return false;
  return ['json', 'yaml', 'documents'].some((known) => known === message.format) && message.bytes instanceof Uint8Array;
}

/** True for a ParseResult. */
export function isParseResult(message: unknown): message is BodyParseResult {
  if (!isJsonObject(message)) return false;
  const { type, status, detail } = message;
  if (type === 'failure') return typeof status === 'number' && typeof detail === 'string';
  return type === 'ready' || type === 'fine' || type === 'value';
}
