import { HttpRbac, NetworkRbac, type Permission, type Principal, RBAC_Action } from '@causeway/proto-gen';
import {
  CLEAR_PATH,
  mayBeAnonymous,
  namesPaths,
  type AccessClause,
  type AccessRequestMatch,
  type AccessRules,
  type IdMatch,
} from '@causeway/policies';
import { packFilter } from '@causeway/xds-server';
import type { InboundFilters } from '../policies/inbound-filters';

type PrincipalFields = Parameters<typeof Principal.fromPartial>[0];
type PermissionFields = Parameters<typeof Permission.fromPartial>[0];
interface PolicyFields {
  readonly permissions: PermissionFields[];
  readonly principals: PrincipalFields[];
}
interface RulesFields {
  readonly action: RBAC_Action;
  readonly policies: Record<string, PolicyFields>;
}

const ANY_REQUEST: PermissionFields = { rule: { $case: 'any', value: true } };
const ANYONE: PrincipalFields = { identifier: { $case: 'any', value: true } };
const ANONYMOUS: PrincipalFields = not({ identifier: { $case: 'authenticated', value: {} } });
/** The policy that refuses paths that can be read in two ways, where other policies name paths; no rule has this name. */
export const UNCLEAR_PATHS = 'unclear:paths';

/**
 * The filters of the AccessPolicies at an inbound (docs/reference/policies-shipped.md, AccessPolicy): all of `rules` must let a call pass, of
 * each the denies first. Requests are answered with 403, connections are closed; rules with `to` allow no connection and deny whole ones.
 */
export function accessFilters(rules: readonly AccessRules[]): InboundFilters {
  return ({ statPrefix, isHttp }) =>
    isHttp
      ? { network: [], http: httpAccessFilters(rules) }
      : {
          network: rules.flatMap((each, n) =>
            toRbacRules(each, false).map((one, i) =>
              packFilter(`access-policy-${n}-${i}`, NetworkRbac, { statPrefix, rules: one }),
            ),
          ),
          http: [],
        };
}

/** The same for requests, whoever looks at them. */
export function httpAccessFilters(rules: readonly AccessRules[]) {
  return rules.flatMap((each, n) =>
    toRbacRules(each, true).map((one, i) => packFilter(`access-policy-${n}-${i}`, HttpRbac, { rules: one })),
  );
}

/**
 * Who can get anything at all from a process that is dialled before a filter decides: the handshake refuses all others. The shortest list
 * of those that the rules have; undefined where anyone may come so far.
 */
export function handshakeNames(rules: readonly AccessRules[]): readonly IdMatch[] | undefined {
  const lists = rules.flatMap((each) => namesAllowed(each) ?? []).sort((a, b) => a.names.length - b.names.length);
  return lists[0]?.names;
}

/** Whether callers without an identity may make some calls. */
export function takesAnonymous(rules: readonly AccessRules[]): boolean {
  return rules.every(mayBeAnonymous);
}

function namesAllowed({ allow, defaultAccess }: AccessRules): { readonly names: readonly IdMatch[] } | undefined {
  if (!allow) return defaultAccess === 'Allow' ? undefined : { names: [] };
  const names: IdMatch[] = [];
  for (const { callers, to } of allow) {
    if (to) continue;
    if (callers === 'anyone' || callers.within === 'anyone') return undefined;
    names.push(...callers.within);
  }
  return { names };
}

function toRbacRules(rules: AccessRules, seesRequests: boolean): readonly RulesFields[] {
  const { deny, allow, defaultAccess } = rules;
  const denied = toRbacPolicies(seesRequests ? deny : deny.map(ofConnections), true);
  if (seesRequests && namesPaths(rules)) denied[UNCLEAR_PATHS] = { permissions: [UNCLEAR_PATH], principals: [ANYONE] };
  const allowed = seesRequests ? allow : allow?.filter(({ to }) => !to);
  return [
    ...(Object.keys(denied).length > 0 ? [{ action: RBAC_Action.DENY, policies: denied }] : []),
    ...(allowed || defaultAccess === 'Deny'
      ? [{ action: RBAC_Action.ALLOW, policies: toRbacPolicies(allowed ?? [], false) }]
      : []),
  ];
}

function ofConnections(clause: AccessClause): AccessClause {
  return { ...clause, to: undefined };
}

/** Clauses of one rule are one policy: they differ in callers only. */
function toRbacPolicies(clauses: readonly AccessClause[], isDeny: boolean): Record<string, PolicyFields> {
  const byName = new Map<string, PolicyFields>();
  for (const { name, callers, to } of clauses) {
    const policy = byName.get(name) ?? { permissions: to?.map(toPermission) ?? [ANY_REQUEST], principals: [] };
    byName.set(name, policy);
    policy.principals.push(...toPrincipals(callers));
    if (isDeny && callers !== 'anyone') policy.principals.push(ANONYMOUS);
  }
  // A policy without principals breaks Envoy's rules; a rule that nobody fits says nothing.
  return Object.fromEntries([...byName].filter(([, { principals }]) => principals.length > 0));
}

function toPrincipals(callers: AccessClause['callers']): readonly PrincipalFields[] {
  if (callers === 'anyone') return [ANYONE];
  const { within, except } = callers;
  if (within !== 'anyone' && except.length === 0) return within.map(callerWith);
  if (within !== 'anyone' && within.length === 0) return [];
  const named = within === 'anyone' ? [] : [anyOf(within.map(callerWith))];
  const others = except.length === 0 ? [] : [not(anyOf(except.map((value) => callerWith({ type: 'Exact', value }))))];
  const ids = [...named, ...others];
  return ids.length === 0 ? [ANYONE] : [{ identifier: { $case: 'andIds', value: { ids } } }];
}

/** Whoever has such a SPIFFE id. */
export function callerWith({ type, value }: IdMatch): PrincipalFields {
  const matchPattern = type === 'Exact' ? { $case: 'exact' as const, value } : { $case: 'prefix' as const, value };
  return { identifier: { $case: 'authenticated', value: { principalName: { matchPattern } } } };
}

function anyOf(ids: PrincipalFields[]): PrincipalFields {
  return { identifier: { $case: 'orIds', value: { ids } } };
}

function not(value: PrincipalFields): PrincipalFields {
  return { identifier: { $case: 'notId', value } };
}

function toPermission({ methods, paths }: AccessRequestMatch): PermissionFields {
  const parts = [
    ...(methods ? [oneOf(methods.map(methodIs))] : []),
    ...(paths ? [oneOf(paths.flatMap(pathFits))] : []),
  ];
  return parts.length === 0 ? ANY_REQUEST : { rule: { $case: 'andRules', value: { rules: parts } } };
}

function methodIs(value: string): PermissionFields {
  const stringMatch = { matchPattern: { $case: 'exact' as const, value } };
  const headerMatchSpecifier = { $case: 'stringMatch' as const, value: stringMatch };
  return { rule: { $case: 'header', value: { name: ':method', headerMatchSpecifier } } };
}

/** A prefix takes whole elements; a "/" at its end says nothing. */
function pathFits({ type, value }: NonNullable<AccessRequestMatch['paths']>[number]): readonly PermissionFields[] {
  if (type === 'Exact') return [pathIs({ $case: 'exact', value })];
  const prefix = value.replace(/\/$/, '');
  const under = pathIs({ $case: 'prefix', value: `${prefix}/` });
  return prefix === '' ? [under] : [pathIs({ $case: 'exact', value: prefix }), under];
}

/** A path with bytes that are no UTF-8 fits no expression, so what is asked is which paths are clear. */
const UNCLEAR_PATH: PermissionFields = {
  rule: { $case: 'notRule', value: pathIs({ $case: 'safeRegex', value: { regex: CLEAR_PATH } }) },
};

type PathPattern =
  | { readonly $case: 'exact' | 'prefix'; readonly value: string }
  | { readonly $case: 'safeRegex'; readonly value: { readonly regex: string } };

function pathIs(matchPattern: PathPattern): PermissionFields {
  return { rule: { $case: 'urlPath', value: { rule: { $case: 'path', value: { matchPattern } } } } };
}

function oneOf(rules: PermissionFields[]): PermissionFields {
  return { rule: { $case: 'orRules', value: { rules } } };
}
