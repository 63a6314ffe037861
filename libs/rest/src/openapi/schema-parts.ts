import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '@causeway/resources';

/** A JSON Schema or another part of an OpenAPI document, as plain data. */
export interface OpenApiObject {
  readonly [key: string]: unknown;
}

/** Returns a reference to a component schema. */
export function schema(name: string): OpenApiObject {
  return { $ref: `#/components/schemas/${name}` };
}

/** Returns an object schema; `required` names the fields that are always set. */
export function object(
  properties: OpenApiObject,
  required: readonly string[] = [],
  rest: OpenApiObject = {},
): OpenApiObject {
  return { type: 'object', ...(required.length > 0 ? { required } : {}), properties, ...rest };
}

export const text: OpenApiObject = { type: 'string' };
export const integer: OpenApiObject = { type: 'integer' };
export const time: OpenApiObject = { type: 'string', format: 'date-time' };
export const textMap: OpenApiObject = { type: 'object', additionalProperties: text };

const DESCRIPTIONS: Readonly<Record<number, string>> = {
  400: 'The query, the body or the request itself cannot be read, or takes too long to read; control characters are refused.',
  401: 'No credentials, or a token that is not valid: the detail says which check failed.',
  403: 'No role of the caller allows it, or not on this control plane. The detail says which.',
  404: 'No such path, mesh or resource.',
  409: 'Somebody else wrote at the same time, or others need what was to be deleted.',
  410: 'The watch cannot go on from there; list again.',
  412: 'If-Match names another state than the stored one.',
  413: 'The body is too large.',
  414: 'The path or the query is longer than 8,192 characters.',
  415: 'The body is neither JSON nor YAML.',
  422: 'Every rule that the document breaks.',
  429: 'The caller sends more than its rate allows; Retry-After says when the next request is taken.',
  431: 'The headers, the path among them, are too large.',
  503: 'The database or the wanted revision is away for now, or too much is under way; the same request may work later. Retry-After says when, where that is known.',
};

/** Returns references to the problem responses of an operation, by status. */
export function problemResponses(statuses: readonly number[]): OpenApiObject {
  return Object.fromEntries(
    [...statuses, 401, 414, 429, 431, 503].map((status) => [
      String(status),
      { $ref: `#/components/responses/${status}` },
    ]),
  );
}

/** Returns the problem responses as components. */
export function problemComponents(): OpenApiObject {
  return Object.fromEntries(
    Object.entries(DESCRIPTIONS).map(([status, description]) => [
      status,
      { description, content: { 'application/problem+json': { schema: schema('Problem') } } },
    ]),
  );
}

/** Keywords of definitions that are omitted, because clients have no use for them. */
const OWN_KEYWORDS: readonly string[] = ['componentName', 'hint'];

/**
 * Collects named schemas as components and replaces them by references. Schemas contain functions of their library,
 * which conversion to JSON text removes.
 */
export class Components {
  private readonly found = new Map<string, JsonValue>();

  /** Returns the collected schemas by name. */
  schemas(): JsonObject {
    return Object.fromEntries([...this.found].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  /** Returns a part of the document as JSON, with references in place of named schemas. */
  json(part: OpenApiObject): JsonObject {
    const value: unknown = JSON.parse(JSON.stringify(part));
    return isJsonObject(value) ? this.fields(value) : {};
  }

  private fields(value: JsonObject): JsonObject {
    const own = Object.entries(value).filter(([key]) => !OWN_KEYWORDS.includes(key));
    return Object.fromEntries(own.map(([key, item]) => [key, item && this.referenced(item)]));
  }

  private referenced(value: JsonValue): JsonValue {
    if (isJsonArray(value)) return value.map((item) => this.referenced(item));
    if (!isJsonObject(value)) return value;
    const { componentName: name } = value;
    const plain = this.fields(value);
    if (typeof name !== 'string') return plain;
    this.found.set(name, plain);
    return { $ref: `#/components/schemas/${name}` };
  }
}
