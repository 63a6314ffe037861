import { ESCAPED_CHARACTER } from '@causeway/resources';
import type { AccessRequestMatch } from '../shipped/access-policy';

/** SPIFFE ids: this one, or those that begin so. */
export interface IdMatch {
  readonly type: 'Exact' | 'Prefix';
  readonly value: string;
}

/** Callers with an identity: those `within`, without those of `except`. */
export interface CallerTerm {
  readonly within: readonly IdMatch[] | 'anyone';
  readonly except: readonly string[];
}

/** A rule with its callers found: `anyone` are also those without an identity. */
export interface AccessClause {
  readonly name: string;
  readonly callers: CallerTerm | 'anyone';
  /** Undefined: all requests. */
  readonly to: readonly AccessRequestMatch[] | undefined;
}

/** Compiled rules of who may call a port of a service, for evaluation and for translation to proxies. */
export interface AccessRules {
  readonly deny: readonly AccessClause[];
  /** Undefined: no policy says who may, so the mesh's default holds. */
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
 * The whole of a path that means the same to a proxy and to a process: no empty elements, no parameters of elements, no escapes but those of
 * a space and of characters beyond ASCII in UTF-8. An overlong escape, or one cut short, is none: some processes read `%c0%af` as a slash,
 * or take the letter behind `%e0` for a part of it. Where rules name paths, a request with another path is refused. RE2 and JavaScript
 * read it alike; each step is decided by the next characters.
 */
export const CLEAR_PATH = `/?(?:(?:[^%/;\\\\]|%20|${ESCAPED_CHARACTER})/?)*`;
const clear = new RegExp(`^${CLEAR_PATH}$`);

/**
 * Whether a call is allowed (docs/reference/policies-shipped.md, AccessPolicy). `id`: the verified SPIFFE id of the caller, undefined if
 * it has none: then rules with `from` refuse by deny and do not allow. `request` undefined: a connection whose requests are not seen:
 * rules with `to` refuse by deny and do not allow. Linear in the rules.
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

/** Whether a caller with this id is one of these. */
function isCaller(callers: AccessClause['callers'], id: string): boolean {
  if (callers === 'anyone') return true;
  const { within, except } = callers;
  return (within === 'anyone' || within.some((match) => fitsId(match, id))) && !except.includes(id);
}

export function fitsId({ type, value }: IdMatch, id: string): boolean {
  return type === 'Exact' ? id === value : id.startsWith(value);
}

/** Whether any rule looks at paths. */
export function namesPaths({ deny, allow = [] }: AccessRules): boolean {
  return [...deny, ...allow].some(({ to }) => to?.some(({ paths }) => paths));
}

/**
 * Whether some callers without an identity may make some calls: they cannot be distinguished from those that a deny
 * with `from` targets.
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

/** A prefix takes whole elements; a "/" at its end says nothing. */
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
