import {
  type FieldPath,
  isJsonArray,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type Violation,
} from '@causeway/resources';

/** A rule with its index in the router's list. */
export interface OrderedRule {
  readonly index: number;
  readonly priority?: number;
  /** The rule; its `matches` has at most one entry. */
  readonly rule: JsonObject;
}

/**
 * Returns violations for priorities that the Gateway API cannot express: App Mesh orders routes by priority first, the Gateway
 * API by specificity. Both agree only if, of two routes that may match one request, the first is at least as specific.
 */
export function priorityViolations(rules: readonly OrderedRule[], at: FieldPath): readonly Violation[] {
  return rules.flatMap((first) =>
    rules.flatMap((second): Violation[] => {
      const isFirst = (first.priority ?? Infinity) < (second.priority ?? Infinity);
      const [a, b] = [readRuleMatch(first), readRuleMatch(second)];
      if (!isFirst || areApart(a, b) || compare(computeStrength(a), computeStrength(b)) >= 0) return [];
      const reason = `puts the route before spec.routes[${second.index}], which matches more closely and is asked first`;
      return [
        at
          .index(first.index)
          .field('priority')
          .violation(`${reason}; leave it out, or match as closely`, 'not-allowed'),
      ];
    }),
  );
}

const readRuleMatch = ({ rule }: OrderedRule): JsonObject => {
  const { matches } = rule;
  const [only] = isJsonArray(matches) ? matches : [];
  return isJsonObject(only) ? only : {};
};

const textIn = (object: JsonValue | undefined, field: string): string => {
  const value = isJsonObject(object) ? object[field] : undefined;
  return typeof value === 'string' ? value : '';
};
const countEntries = (list: JsonValue | undefined): number => (isJsonArray(list) ? list.length : 0);

/** Returns the precedence of the Gateway API before age: the larger first (docs/reference/routing.md). */
function computeStrength({ path, method, headers, queryParams }: JsonObject): readonly number[] {
  if (isJsonObject(method) || path === undefined)
    return [textIn(method, 'service').length, textIn(method, 'method').length, countEntries(headers)];
  const type = textIn(path, 'type');
  const length = type === 'PathPrefix' ? textIn(path, 'value').replace(/\/$/, '').length : 0;
  const kind = type === 'Exact' ? 2 : type === 'RegularExpression' ? 1 : 0;
  return [kind, length, method === undefined ? 0 : 1, countEntries(headers), countEntries(queryParams)];
}

const compare = (a: readonly number[], b: readonly number[]): number =>
  a.map((each, i) => each - (b[i] ?? 0)).find((difference) => difference !== 0) ?? 0;

/** True if no request can match both. */
function areApart(a: JsonObject, b: JsonObject): boolean {
  if (typeof a['method'] === 'string' && typeof b['method'] === 'string' && a['method'] !== b['method']) return true;
  const [service, other] = [textIn(a['method'], 'service'), textIn(b['method'], 'service')];
  if (service !== '' && other !== '' && service !== other) return true;
  const [first, second] = [a['path'], b['path']];
  if ([first, second].some((path) => path === undefined || textIn(path, 'type') === 'RegularExpression')) return false;
  return !covers(first, second) && !covers(second, first);
}

/** Whether a path, exact or a prefix, includes another one. */
function covers(path: JsonValue | undefined, other: JsonValue | undefined): boolean {
  const [value, named] = [textIn(path, 'value'), textIn(other, 'value')];
  if (textIn(path, 'type') === 'Exact') return value === named && textIn(other, 'type') === 'Exact';
  const prefix = value.replace(/\/$/, '');
  return named === prefix || prefix === '' || `${named}/`.startsWith(`${prefix}/`);
}
