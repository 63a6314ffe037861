import { isJsonObject, type JsonObject, type Labels, type LabelSelector } from '@causeway/resources';
import { listAt, objectAt, textAt, textsAt } from '../../render';

const OPERATORS = ['In', 'NotIn', 'Exists', 'DoesNotExist'] as const;

/** Returns the selector at a path of keys; undefined if there is none. A malformed selector is left to the control plane, which reports the fault. */
export function selectorAt(value: JsonObject, ...path: readonly string[]): LabelSelector | undefined {
  const given = objectAt(value, ...path.slice(0, -1))[path.at(-1) ?? ''];
  if (!isJsonObject(given)) return undefined;
  const matchExpressions = listAt(given, 'matchExpressions').flatMap((expression) => {
    const operator = OPERATORS.find((one) => one === expression['operator']);
    return operator ? [{ key: textAt(expression, 'key'), operator, values: textsAt(expression, 'values') }] : [];
  });
  return { matchLabels: textsIn(objectAt(given, 'matchLabels')), matchExpressions };
}

/** Returns the text values of an object, by key. */
export function textsIn(object: JsonObject): Labels {
  return Object.fromEntries(Object.keys(object).map((key) => [key, textAt(object, key)]));
}
