/** A JSON Schema or another part of an OpenAPI document, as plain data. */
export interface OpenApiObject {
  readonly [key: string]: unknown;
}

/** A reference to a component schema. */
export function schema(name: string): OpenApiObject {
  return { $ref: `#/components/schemas/${name}` };
}

/** An object schema; `required` names the fields that are always there. */
export function object(
  properties: OpenApiObject,
  required: readonly string[] = [],
  rest: OpenApiObject = {},
): OpenApiObject {
  return { type: 'object', ...(required.length > 0 ? { required } : {}), properties, ...rest };
}

/** A list schema. */
export function list(items: OpenApiObject): OpenApiObject {
  return { type: 'array', items };
}

export const text: OpenApiObject = { type: 'string' };
export const integer: OpenApiObject = { type: 'integer' };
export const flag: OpenApiObject = { type: 'boolean' };
export const time: OpenApiObject = { type: 'string', format: 'date-time' };
export const textMap: OpenApiObject = { type: 'object', additionalProperties: text };

/** The answer `{total, items, next}` over items of a schema. */
export function page(items: OpenApiObject): OpenApiObject {
  return object({ total: integer, items: list(items), next: { type: ['string', 'null'] } }, ['total', 'items', 'next']);
}

/** An answer with one JSON body. */
export function jsonContent(description: string, body: OpenApiObject, headers: OpenApiObject = {}): OpenApiObject {
  return {
    description,
    ...(Object.keys(headers).length > 0 ? { headers } : {}),
    content: { 'application/json': { schema: body } },
  };
}
