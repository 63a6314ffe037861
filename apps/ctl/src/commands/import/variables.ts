import { isJsonArray, isJsonObject, type JsonValue } from '@causeway/resources';

const VARIABLE = /\$\{([A-Za-z_]\w*)\}/g;

/**
 * Fills `${NAME}` in all texts of a value, as `envsubst` does with the templates of walkthroughs. A text that consists
 * of one variable becomes a number if the variable is one. Unknown variables stay and are added to `unset`.
 */
export function fillVariables(
  value: JsonValue | undefined,
  variables: ReadonlyMap<string, string>,
  unset: (name: string) => void,
): JsonValue {
  if (typeof value === 'string') return fillText(value, variables, unset);
  if (isJsonArray(value)) return value.map((item) => fillVariables(item, variables, unset));
  if (!isJsonObject(value)) return value ?? null;
  const fields = Object.entries(value).map(([key, field]): [string, JsonValue] => [
    String(fillText(key, variables, unset)),
    fillVariables(field, variables, unset),
  ]);
  return Object.fromEntries(fields);
}

function fillText(
  text: string,
  variables: ReadonlyMap<string, string>,
  unset: (name: string) => void,
): string | number {
  let filled = false;
  const result = text.replace(VARIABLE, (whole, name: string) => {
    const value = variables.get(name);
    if (value === undefined) unset(name);
    else filled = true;
    return value ?? whole;
  });
  const isWhole = filled && text.replace(VARIABLE, '') === '';
  return isWhole && /^\d{1,15}$/.test(result) ? Number(result) : result;
}
