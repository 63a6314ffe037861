import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '@causeway/resources';

/** A document with its repeated parameters moved to components. */
export interface ExtractedParameters {
  readonly paths: JsonObject;
  readonly parameters: JsonObject;
}

/**
 * Replaces every parameter by a reference, equal ones by the same: repeated for each kind they would be most of the
 * document. A component has the name of its parameter, with a number if one name has several meanings; the suffix
 * `Parameter` separates them from schemas in generated clients.
 */
export function extractParameters(paths: JsonObject): ExtractedParameters {
  const names = new Map<string, string>();
  const parameters: Record<string, JsonValue> = {};
  const reference = (parameter: JsonValue): JsonValue => {
    const text = JSON.stringify(parameter);
    const known = names.get(text);
    const given = isJsonObject(parameter) ? parameter['name'] : undefined;
    const name = known ?? freeName(`${typeof given === 'string' ? given : ''}Parameter`, parameters);
    names.set(text, name);
    parameters[name] = parameter;
    return { $ref: `#/components/parameters/${name}` };
  };
  return { paths: withReferences(paths, reference), parameters };
}

function withReferences(node: JsonObject, reference: (parameter: JsonValue) => JsonValue): JsonObject {
  return Object.fromEntries(
    Object.entries(node).map(([key, value]): [string, JsonValue | undefined] => {
      if (key === 'parameters' && isJsonArray(value)) return [key, value.map(reference)];
      return [key, isJsonObject(value) && key !== 'schema' ? withReferences(value, reference) : value];
    }),
  );
}

function freeName(name: string, taken: Readonly<Record<string, JsonValue>>): string {
  let free = name;
  for (let i = 2; free in taken; i++) free = `${name}${i}`;
  return free;
}
