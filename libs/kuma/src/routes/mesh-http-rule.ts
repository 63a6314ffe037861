import type { JsonObject } from '@causeway/resources';
import type { CompiledRule, Filter, HeaderChanges, RouteMatch, ValueMatch } from '@causeway/routing';

/** A part of a rule as Kuma 2.14 writes it, or what the rule has that Kuma does in another way or not at all. */
export type Translated<T> = { readonly value: T } | { readonly reason: string };

const isExact = ({ type = 'Exact' }: { readonly type?: string }): boolean => type === 'Exact';
const lower = (name: string): string => name.toLowerCase();

/**
 * The matches of a rule. Kuma asks regular expressions of paths after prefixes, where here they come before, and its Envoys take smaller
 * ones than ours: a rule with one is not translated. All other matches rank as here.
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

/** Kuma takes no slash at the end of a prefix; a prefix means whole segments there too. */
function kumaPath({ type = 'PathPrefix', value = '/' }: NonNullable<RouteMatch['path']> = {}) {
  return { type, value: type === 'PathPrefix' ? value.replace(/\/$/, '') || '/' : value };
}

/** Whether a rule takes what no other takes. */
export function matchesAll({ matches }: CompiledRule): boolean {
  return matches.some(({ given: { path, method, headers = [], queryParams = [] } }) => {
    const { type, value } = kumaPath(path);
    return type === 'PathPrefix' && value === '/' && !method && headers.length + queryParams.length === 0;
  });
}

/** Changes of headers and of the host; all else is done in another way by Kuma, or of its own kinds. */
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

/** Kuma hands values on as Envoy's format, leaves empty ones out, and lets Envoy refuse the header Host. */
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
