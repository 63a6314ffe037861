import { parseYaml } from '@causeway/admission';
import type { RestLimits } from '../dependencies';
import { HttpFailure } from './http-failure';

/** Media types of bodies, by how they are read. */
export const BODY_TYPES = {
  json: ['application/json', 'application/merge-patch+json'],
  yaml: ['application/yaml', 'application/x-yaml', 'text/yaml', 'text/x-yaml'],
} as const;

/** Reading YAML takes time by what is in it: more than any resource needs would hold up everybody else. */
const MOST_YAML_NODES = 20_000;

/**
 * The value of a request body, JSON or YAML by its media type; without one it is read as YAML, which takes JSON too.
 * Throws 415 for other types and 400 for what cannot be parsed, with line and column (design.md §1, §6).
 */
export function decodeBody(contentType: string | undefined, body: unknown, limits: Pick<RestLimits, 'yaml'>): unknown {
  const reader = readerFor(contentType);
  const text = Buffer.isBuffer(body) ? utf8(body) : '';
  if (reader === readYaml && text.length > limits.yaml) {
    throw new HttpFailure(
      413,
      `A body in YAML may have ${limits.yaml} characters, this one has ${text.length}; send it as JSON.`,
    );
  }
  if (text.trim() === '') throw empty();
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

/** Throws Unparsable, which is answered as 400. */
function readYaml(text: string): unknown {
  const [document, ...more] = parseYaml(text, { nodes: MOST_YAML_NODES });
  if (!document) throw empty();
  if (more.length > 0)
    throw new HttpFailure(400, `The body has ${more.length + 1} documents; send one resource at a time.`);
  return document.value;
}

function empty(): HttpFailure {
  return new HttpFailure(400, 'The body is empty; send the resource as JSON or YAML.');
}
