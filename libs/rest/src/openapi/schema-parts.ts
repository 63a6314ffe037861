/** A JSON Schema or another part of an OpenAPI document, as plain data. */
export interface Part {
  readonly [key: string]: unknown;
}

/** A reference to a component schema. */
export function schema(name: string): Part {
  return { $ref: `#/components/schemas/${name}` };
}

/** An object schema; `required` names the fields that are always there. */
export function object(properties: Part, required: readonly string[] = [], rest: Part = {}): Part {
  return { type: 'object', ...(required.length > 0 ? { required } : {}), properties, ...rest };
}

/** A list schema. */
export function list(items: Part): Part {
  return { type: 'array', items };
}

export const text: Part = { type: 'string' };
export const integer: Part = { type: 'integer' };
export const flag: Part = { type: 'boolean' };
export const time: Part = { type: 'string', format: 'date-time' };
export const textMap: Part = { type: 'object', additionalProperties: text };

/** The answer `{total, items, next}` over items of a schema. */
export function page(items: Part): Part {
  return object({ total: integer, items: list(items), next: { type: ['string', 'null'] } }, ['total', 'items', 'next']);
}

/** An answer with one JSON body. */
export function answer(description: string, body: Part, headers: Part = {}): Part {
  return {
    description,
    ...(Object.keys(headers).length > 0 ? { headers } : {}),
    content: { 'application/json': { schema: body } },
  };
}
