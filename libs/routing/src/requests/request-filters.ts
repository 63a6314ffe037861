import type { Filter, HeaderChanges, PathChange } from '../model';
import type { HttpRequest } from '../rules/request';

type HeaderList = readonly (readonly [name: string, value: string])[];

const isHost = (name: string): boolean => name.toLowerCase() === 'host';

/**
 * Returns `headers` after set, add and remove: names are case-insensitive, `add` appends to the last value with a
 * comma. Only a host rewrite changes the header Host: no proxy changes it otherwise.
 */
function changeHeaders(headers: HeaderList, changes: HeaderChanges): HeaderList {
  const withoutHost = (list: HeaderChanges['set'] = []) => list.filter(({ name }) => !isHost(name));
  const [set, add] = [withoutHost(changes.set), withoutHost(changes.add)];
  const remove = (changes.remove ?? []).filter((name) => !isHost(name));
  const removed = new Set(remove.map((name) => name.toLowerCase()));
  const replaced = new Set(set.map(({ name }) => name.toLowerCase()));
  const added = new Map(add.map(({ name, value }) => [name.toLowerCase(), { name, value }]));
  const kept = headers.filter(([name]) => !removed.has(name.toLowerCase()) && !replaced.has(name.toLowerCase()));
  const joined = kept.map(([name, value]) => {
    const more = added.get(name.toLowerCase());
    if (!more) return [name, value] as const;
    added.delete(name.toLowerCase());
    return [name, `${value},${more.value}`] as const;
  });
  const rest = [...set, ...added.values()];
  return [...joined, ...rest.map(({ name, value }) => [name, value] as const)];
}

/**
 * Returns the changed path. `matched` is the value of the rule's PathPrefix match; the prefix is replaced by whole
 * elements, trailing slashes are ignored (Gateway API, HTTPPathModifier, table of ReplacePrefixMatch).
 */
export function changePath(path: string, change: PathChange, matched: string): string {
  if (change.type === 'ReplaceFullPath') return change.replaceFullPath ?? path;
  const prefix = matched.replace(/\/$/, '');
  const rest = path.slice(prefix.length);
  const replacement = (change.replacePrefixMatch ?? '').replace(/\/$/, '');
  const changed = `${replacement}${rest}`;
  return changed.startsWith('/') ? changed : `/${changed}`;
}

/** Returns the request after the filters of a list in order; redirects and mirrors are ignored. */
export function filterRequest(request: HttpRequest, filters: readonly Filter[], matched: string): HttpRequest {
  return filters.reduce((changed, { requestHeaderModifier, urlRewrite }) => {
    if (requestHeaderModifier) return { ...changed, headers: changeHeaders(changed.headers, requestHeaderModifier) };
    if (!urlRewrite) return changed;
    const path = urlRewrite.path ? changePath(changed.path, urlRewrite.path, matched) : changed.path;
    return { ...changed, path, host: urlRewrite.hostname ?? changed.host };
  }, request);
}

/** Returns the changes of the response's headers, in the order of application. */
export function responseChanges(...lists: readonly (readonly Filter[])[]): readonly HeaderChanges[] {
  return lists.flat().flatMap(({ responseHeaderModifier }) => (responseHeaderModifier ? [responseHeaderModifier] : []));
}

export interface Redirect {
  readonly statusCode: number;
  readonly location: string;
}

/**
 * Builds the response of a redirect. Its port is the filter's, else 80 or 443 by the filter's scheme, else `port` of
 * the frontend; :80 of http and :443 of https are omitted. The query is kept.
 */
export function buildRedirect(
  request: HttpRequest,
  { scheme, hostname, path, port: given, statusCode = 302 }: NonNullable<Filter['requestRedirect']>,
  { port, matched }: { readonly port: number; readonly matched: string },
): Redirect {
  const to = scheme ?? request.scheme;
  const number = given ?? (scheme === undefined ? port : defaultPort(scheme));
  const shown = number === defaultPort(to) ? '' : `:${number}`;
  const where = path ? changePath(request.path, path, matched) : request.path;
  const host = hostname ?? request.host.replace(/:[0-9]+$/, '');
  return { statusCode, location: `${to}://${host}${shown}${where}${formatQuery(request)}` };
}

const defaultPort = (scheme: string): number => (scheme === 'https' ? 443 : 80);

function formatQuery({ query }: HttpRequest): string {
  if (query.length === 0) return '';
  return `?${query.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`).join('&')}`;
}
