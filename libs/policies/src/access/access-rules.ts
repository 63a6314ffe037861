import { ESCAPED_CHARACTER } from '@causeway/resources';
import type { AccessRequestMatch } from '../shipped/access-policy';

/** A SPIFFE id, or all ids with a prefix. */
export interface IdMatch {
  readonly type: 'Exact' | 'Prefix';
  readonly value: string;
}

/** Callers with an identity: those in `included`, without those in `except`. */
export interface CallerTerm {
  readonly included: readonly IdMatch[] | 'anyone';
  readonly except: readonly string[];
}

/** A rule with its callers resolved; `anyone` includes callers without an identity. */
export interface AccessClause {
  readonly name: string;
  readonly callers: CallerTerm | 'anyone';
  /** Undefined: all requests. */
  readonly to: readonly AccessRequestMatch[] | undefined;
}

/** Compiled access rules for a port of a service, for evaluation and for translation to proxies. */
export interface AccessRules {
  readonly deny: readonly AccessClause[];
  /** Undefined: no policy has `allow`, so the mesh's default applies. */
  readonly allow: readonly AccessClause[] | undefined;
  readonly defaultAccess: 'Allow' | 'Deny';
}

export interface AccessRequest {
  readonly method: string;
  /** With or without a query. */
  readonly path: string;
}

/** Decision about a call, and its origin: a rule (`deny/x`, `allow/x`), no matching rule, or the mesh's default. */
export interface AccessResult {
  readonly isAllowed: boolean;
  readonly by: string;
}

/**
 * A complete path that proxies and applications read alike: no empty elements, no parameters of elements, no escapes
 * except of a space and of non-ASCII characters in UTF-8. Overlong or truncated escapes are excluded: some applications
 * read `%c0%af` as a slash, or consume the letter after `%e0`. If rules name paths, a request with another path is
 * refused. RE2 and JavaScript match it alike, in linear time.
 */
export const CLEAR_PATH = `/?(?:(?:[^%/;\\\\]|%20|${ESCAPED_CHARACTER})/?)*`;
const clear = new RegExp(`^${CLEAR_PATH}$`);

/**
 * Returns whether a call is allowed (docs/reference/policies-shipped.md, AccessPolicy). `id`: the verified SPIFFE id of
 * the caller. If it is undefined, a deny with `from` refuses the call and an allow with `from` does not match.
 * `request` undefined: a connection whose requests are not visible; `to` is then treated likewise. Linear in the rules.
 */
export function mayCall(rules: AccessRules, id: string | undefined, request?: AccessRequest): AccessResult {
  const { deny, allow, defaultAccess } = rules;
  const path = request && getRequestPath(request);
  if (path !== undefined && namesPaths(rules) && !clear.test(path)) return { isAllowed: false, by: 'path' };
  const refused = deny.find(
    ({ callers, to }) =>
      (id === undefined || isCaller(callers, id)) && (request === undefined || isTo(to, request.method, path ?? '')),
  );
  if (refused) return { isAllowed: false, by: `deny/${refused.name}` };
  if (!allow) return { isAllowed: defaultAccess === 'Allow', by: 'defaultAccess' };
  const allowed = allow.find(
    ({ callers, to }) =>
      (callers === 'anyone' || (id !== undefined && isCaller(callers, id))) &&
      (to === undefined || (request !== undefined && isTo(to, request.method, path ?? ''))),
  );
  return allowed ? { isAllowed: true, by: `allow/${allowed.name}` } : { isAllowed: false, by: 'allow' };
}

/** Returns whether an id belongs to these callers. */
function isCaller(callers: AccessClause['callers'], id: string): boolean {
  if (callers === 'anyone') return true;
  const { included, except } = callers;
  return (included === 'anyone' || included.some((match) => fitsId(match, id))) && !except.includes(id);
}

export function fitsId({ type, value }: IdMatch, id: string): boolean {
  return type === 'Exact' ? id === value : id.startsWith(value);
}

/** Returns whether any rule matches paths. */
export function namesPaths({ deny, allow = [] }: AccessRules): boolean {
  return [...deny, ...allow].some(({ to }) => to?.some(({ paths }) => paths));
}

/**
 * Returns whether callers without an identity may be allowed some calls: they cannot be distinguished from callers that
 * a deny with `from` targets.
 */
export function mayBeAnonymous({ deny, allow, defaultAccess }: AccessRules): boolean {
  if (deny.some(({ to }) => to === undefined)) return false;
  return allow ? allow.some(({ callers }) => callers === 'anyone') : defaultAccess === 'Allow';
}

function isTo(to: AccessClause['to'], method: string, path: string): boolean {
  return (
    to === undefined ||
    to.some(
      ({ methods, paths }) =>
        (!methods || methods.includes(method)) && (!paths || paths.some((match) => fitsPath(match, path))),
    )
  );
}

/** A prefix matches whole elements; a "/" at its end is ignored. */
function fitsPath({ type, value }: NonNullable<AccessRequestMatch['paths']>[number], path: string): boolean {
  if (type === 'Exact') return path === value;
  const prefix = value.replace(/\/$/, '');
  return path === prefix || path.startsWith(`${prefix}/`);
}

/** Returns the path without query and fragment, with "." and ".." resolved, as the proxy does before it evaluates. */
function getRequestPath({ path }: AccessRequest): string {
  const text = `http://host${path}`;
  return path.startsWith('/') && URL.canParse(text) ? new URL(text).pathname : path;
}
