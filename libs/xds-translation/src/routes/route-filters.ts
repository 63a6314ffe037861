import {
  HeaderValueOption_HeaderAppendAction,
  RedirectAction_RedirectResponseCode,
  type RedirectAction,
} from '@causeway/proto-gen';
import type { Filter, HeaderChanges } from '@causeway/routing';
import type { RouteActionFields, RouteFields, RouteMatchFields } from '../model/message-fields';

type RedirectFields = Parameters<typeof RedirectAction.fromPartial>[0];
type HeaderChangeFields = Pick<
  RouteFields,
  'requestHeadersToAdd' | 'requestHeadersToRemove' | 'responseHeadersToAdd' | 'responseHeadersToRemove'
>;

const { APPEND_IF_EXISTS_OR_ADD, OVERWRITE_IF_EXISTS_OR_ADD } = HeaderValueOption_HeaderAppendAction;

/** Envoy refuses to change this header in header filters; URLRewrite rewrites a host. */
const HOST = 'host';

/** Reports whether a list of filters changes headers. */
export function changesHeaders(filters: readonly Filter[]): boolean {
  return filters.some(({ requestHeaderModifier: a, responseHeaderModifier: b }) => a !== undefined || b !== undefined);
}

/** Returns the header changes that filters make in sequence. */
export function headerFields(filters: readonly Filter[]): HeaderChangeFields {
  const request = inOne(filters.flatMap(({ requestHeaderModifier }) => requestHeaderModifier ?? []));
  const response = inOne(filters.flatMap(({ responseHeaderModifier }) => responseHeaderModifier ?? []));
  const [toRequest, toResponse] = [added(request), added(response)];
  const [fromRequest, fromResponse] = [removed(request), removed(response)];
  return {
    ...(toRequest.length > 0 && { requestHeadersToAdd: toRequest }),
    ...(fromRequest.length > 0 && { requestHeadersToRemove: fromRequest }),
    ...(toResponse.length > 0 && { responseHeadersToAdd: toResponse }),
    ...(fromResponse.length > 0 && { responseHeadersToRemove: fromResponse }),
  };
}

/** Reports whether a list of filters changes the header Host, which Envoy does not allow. */
export function changesHost(filters: readonly Filter[]): boolean {
  return filters.some(({ requestHeaderModifier: { set = [], add = [], remove = [] } = {} }) =>
    [...[...set, ...add].map(({ name }) => name), ...remove].some(isHost),
  );
}

/**
 * Merges a sequence of changes into one. Envoy removes first, then replaces, then adds, in any case: changes that a later one undoes are left out.
 */
function inOne(changes: readonly HeaderChanges[]): Required<HeaderChanges> {
  const found = new Map<string, { name: string; set?: string; add: string[]; isRemoved: boolean }>();
  const known = (name: string) => found.get(name.toLowerCase()) ?? { name, add: [], isRemoved: false };
  for (const { set = [], add = [], remove = [] } of changes) {
    for (const name of remove) found.set(name.toLowerCase(), { name, add: [], isRemoved: true });
    for (const { name, value } of set) found.set(name.toLowerCase(), { name, set: value, add: [], isRemoved: false });
    for (const { name, value } of add) {
      const before = known(name);
      found.set(name.toLowerCase(), { ...before, add: [...before.add, value] });
    }
  }
  const all = [...found.values()];
  return {
    set: all.flatMap(({ name, set }) => (set === undefined ? [] : [{ name, value: set }])),
    add: all.flatMap(({ name, add }) => add.map((value) => ({ name, value }))),
    remove: all.filter(({ isRemoved }) => isRemoved).map(({ name }) => name),
  };
}

function added({ set, add }: Required<HeaderChanges>) {
  const option = (appendAction: HeaderValueOption_HeaderAppendAction) => {
    return ({ name, value }: { readonly name: string; readonly value: string }) =>
      // A percent sign would start one of Envoy's substitutions.
      isHost(name) ? [] : [{ header: { key: name, value: value.replaceAll('%', '%%') }, appendAction, ...KEPT }];
  };
  return [...set.flatMap(option(OVERWRITE_IF_EXISTS_OR_ADD)), ...add.flatMap(option(APPEND_IF_EXISTS_OR_ADD))];
}

const KEPT = { keepEmptyValue: true };

function removed({ remove }: Required<HeaderChanges>): string[] {
  return remove.filter((name) => !isHost(name));
}

const isHost = (name: string): boolean => name.toLowerCase() === HOST;

/** Reports whether a list of filters replaces the path prefix that a rule matched. */
export function replacesPrefix(filters: readonly Filter[]): boolean {
  return filters.some(
    ({ urlRewrite, requestRedirect }) => (urlRewrite?.path ?? requestRedirect?.path)?.replacePrefixMatch !== undefined,
  );
}

/**
 * Returns the replacement of a matched prefix, so that whole elements are replaced: a slash at the end of either has no meaning (Gateway API,
 * HTTPPathModifier).
 */
function prefixReplacement(replacement: string, { pathSpecifier }: RouteMatchFields): string {
  const given = replacement.replace(/\/$/, '');
  const start = given === '' || given.startsWith('/') ? given : `/${given}`;
  return pathSpecifier?.$case === 'prefix' ? `${start}/` : start || '/';
}

/** Returns the fields that rewrite path and host of a request. */
export function rewriteFields(
  rewrite: Filter['urlRewrite'],
  match: RouteMatchFields,
): Pick<RouteActionFields, 'prefixRewrite' | 'regexRewrite' | 'hostRewriteSpecifier'> {
  const { replaceFullPath: full, replacePrefixMatch: prefix } = rewrite?.path ?? {};
  const hostname = rewrite?.hostname;
  return {
    ...(full !== undefined && {
      regexRewrite: { pattern: { regex: '^.*$' }, substitution: full.replaceAll('\\', '\\\\') },
    }),
    ...(full === undefined && prefix !== undefined && { prefixRewrite: prefixReplacement(prefix, match) }),
    ...(hostname !== undefined && { hostRewriteSpecifier: { $case: 'hostRewriteLiteral', value: hostname } }),
  };
}

const CODES: Readonly<Record<number, RedirectAction_RedirectResponseCode>> = {
  301: RedirectAction_RedirectResponseCode.MOVED_PERMANENTLY,
  302: RedirectAction_RedirectResponseCode.FOUND,
  303: RedirectAction_RedirectResponseCode.SEE_OTHER,
  307: RedirectAction_RedirectResponseCode.TEMPORARY_REDIRECT,
  308: RedirectAction_RedirectResponseCode.PERMANENT_REDIRECT,
};

/**
 * Returns the redirect of a rule at a frontend's port; requests of the mesh have the scheme http. Port: the filter's, else the default of its scheme,
 * else the frontend's; :80 of http and :443 of https are not written (Gateway API, HTTPRequestRedirectFilter).
 */
export function redirectFields(
  { scheme, hostname, path, port: given, statusCode = 302 }: NonNullable<Filter['requestRedirect']>,
  match: RouteMatchFields,
  port: number,
): RedirectFields {
  const usual = scheme === 'https' ? 443 : 80;
  const number = given ?? (scheme === undefined ? port : usual);
  const { replaceFullPath: full, replacePrefixMatch: prefix } = path ?? {};
  return {
    ...(scheme !== undefined && { schemeRewriteSpecifier: { $case: 'schemeRedirect', value: scheme } }),
    ...(hostname !== undefined && { hostRedirect: hostname }),
    ...(number !== usual && { portRedirect: number }),
    ...(full !== undefined && { pathRewriteSpecifier: { $case: 'pathRedirect', value: full } }),
    ...(full === undefined &&
      prefix !== undefined && {
        pathRewriteSpecifier: { $case: 'prefixRewrite', value: prefixReplacement(prefix, match) },
      }),
    responseCode: CODES[statusCode] ?? RedirectAction_RedirectResponseCode.FOUND,
  };
}
