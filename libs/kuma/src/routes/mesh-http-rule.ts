import type { JsonObject } from '@causeway/resources';
import type { CompiledRule, Filter, HeaderChanges, RouteMatch, ValueMatch } from '@causeway/routing';

/** A part of a rule in Kuma 2.14's form, or the part that Kuma handles differently or not at all. */
export type Translated<T> = { readonly value: T } | { readonly reason: string };

const isExact = ({ type = 'Exact' }: { readonly type?: string }): boolean => type === 'Exact';
const lower = (name: string): string => name.toLowerCase();

/**
 * Returns the matches of a rule. Kuma evaluates regular expressions of paths after prefixes, while here they come before, and its Envoys accept only
 * smaller ones than ours: a rule with one is not translated. All other matches have the same precedence as here.
 */
export function kumaMatches({ matches }: CompiledRule): Translated<JsonObject[]> {
  const given = matches.map((match) => match.given);
  const isRegular = given.some(
    ({ path, headers = [], queryParams = [] }) =>
      path?.type === 'RegularExpression' || !headers.every(isExact) || !queryParams.every(isExact),
  );
  return isRegular ? { reason: 'a regular expression' } : { value: given.map(kumaMatch) };
}

function kumaMatch({ path, method, headers = [], queryParams = [] }: RouteMatch): JsonObject {
  const exact = ({ name, value }: ValueMatch) => ({ type: 'Exact', name, value });
  return {
    path: kumaPath(path),
    ...(typeof method === 'string' && { method }),
    ...(headers.length > 0 && { headers: headers.map((one) => exact({ ...one, name: lower(one.name) })) }),
    ...(queryParams.length > 0 && { queryParams: queryParams.map(exact) }),
  };
}

/** Kuma accepts no slash at the end of a prefix; a prefix matches whole segments there too. */
function kumaPath({ type = 'PathPrefix', value = '/' }: NonNullable<RouteMatch['path']> = {}) {
  return { type, value: type === 'PathPrefix' ? value.replace(/\/$/, '') || '/' : value };
}

/** Reports whether a rule matches every request. */
export function matchesAll({ matches }: CompiledRule): boolean {
  return matches.some(({ given: { path, method, headers = [], queryParams = [] } }) => {
    const { type, value } = kumaPath(path);
    return type === 'PathPrefix' && value === '/' && !method && headers.length + queryParams.length === 0;
  });
}

/** Returns changes of headers and of the host; Kuma handles all other filters differently, or in kinds of their own. */
export function kumaFilters(filters: readonly Filter[]): Translated<JsonObject[]> {
  const value: JsonObject[] = [];
  for (const { type, requestHeaderModifier: request, responseHeaderModifier: response, urlRewrite } of filters) {
    const changes = request ?? response;
    if (changes) {
      const reason = strange(changes);
      if (reason !== undefined) return { reason };
      value.push({ type, [request ? 'requestHeaderModifier' : 'responseHeaderModifier']: kumaChanges(changes) });
    } else if (urlRewrite?.hostname !== undefined && !urlRewrite.path) {
      value.push({ type, urlRewrite: { hostname: urlRewrite.hostname } });
    } else return { reason: `a filter ${type}${urlRewrite?.path ? ' of the path' : ''}` };
  }
  return { value };
}

/**
 * Returns the first change that Kuma handles differently: it passes values on as Envoy's format strings, drops empty ones, and lets Envoy refuse the
 * header Host.
 */
function strange({ set = [], add = [], remove = [] }: HeaderChanges): string | undefined {
  const changed = [...set, ...add];
  if (changed.some(({ value }) => value === '')) return 'a header of an empty value';
  if (changed.some(({ value }) => value.includes('%'))) return 'a header with a percent sign in its value';
  return [...changed.map(({ name }) => name), ...remove].map(lower).includes('host')
    ? 'a change of the header Host'
    : undefined;
}

function kumaChanges({ set = [], add = [], remove = [] }: HeaderChanges): JsonObject {
  const pairs = (list: typeof set) => list.map(({ name, value }) => ({ name: lower(name), value }));
  return {
    ...(set.length > 0 && { set: pairs(set) }),
    ...(add.length > 0 && { add: pairs(add) }),
    ...(remove.length > 0 && { remove: remove.map(lower) }),
  };
}
