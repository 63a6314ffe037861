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
/** The name of the policy that refuses ambiguous paths where other policies match on paths; no rule has this name. */
export const UNCLEAR_PATHS = 'unclear:paths';

/**
 * Returns the RBAC filters of the AccessPolicies at an inbound (docs/reference/policies-shipped.md, AccessPolicy): a call must pass all of `rules`,
 * and in each of them denies are evaluated first. Denied requests are answered with 403, denied connections are closed; on connections, clauses with
 * `to` never allow and always deny the whole connection.
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

/** Returns the same filters for requests, for any server that inspects requests. */
export function httpAccessFilters(rules: readonly AccessRules[]) {
  return rules.flatMap((each, n) =>
    toRbacRules(each, true).map((one, i) => packFilter(`access-policy-${n}-${i}`, HttpRbac, { rules: one })),
  );
}

/**
 * Returns the callers that the handshake must accept where the process is dialled before a filter decides. This is the shortest list among the rules;
 * undefined where the rules accept any caller at this point.
 */
export function handshakeNames(rules: readonly AccessRules[]): readonly IdMatch[] | undefined {
  const lists = rules.flatMap((each) => namesAllowed(each) ?? []).sort((a, b) => a.names.length - b.names.length);
  return lists[0]?.names;
}

/** Reports whether callers without an identity may make some calls. */
export function takesAnonymous(rules: readonly AccessRules[]): boolean {
  return rules.every(mayBeAnonymous);
}

function namesAllowed({ allow, defaultAccess }: AccessRules): { readonly names: readonly IdMatch[] } | undefined {
  if (!allow) return defaultAccess === 'Allow' ? undefined : { names: [] };
  const names: IdMatch[] = [];
  for (const { callers, to } of allow) {
    if (to) continue;
    if (callers === 'anyone' || callers.included === 'anyone') return undefined;
    names.push(...callers.included);
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

/** Merges the clauses of one rule into one RBAC policy: they differ in callers only. */
function toRbacPolicies(clauses: readonly AccessClause[], isDeny: boolean): Record<string, PolicyFields> {
  const byName = new Map<string, PolicyFields>();
  for (const { name, callers, to } of clauses) {
    const policy = byName.get(name) ?? { permissions: to?.map(toPermission) ?? [ANY_REQUEST], principals: [] };
    byName.set(name, policy);
    policy.principals.push(...toPrincipals(callers));
    if (isDeny && callers !== 'anyone') policy.principals.push(ANONYMOUS);
  }
  // Envoy rejects a policy without principals; a rule that matches no caller is left out.
  return Object.fromEntries([...byName].filter(([, { principals }]) => principals.length > 0));
}

function toPrincipals(callers: AccessClause['callers']): readonly PrincipalFields[] {
  if (callers === 'anyone') return [ANYONE];
  const { included, except } = callers;
  if (included !== 'anyone' && except.length === 0) return included.map(callerWith);
  if (included !== 'anyone' && included.length === 0) return [];
  const named = included === 'anyone' ? [] : [anyOf(included.map(callerWith))];
  const others = except.length === 0 ? [] : [not(anyOf(except.map((value) => callerWith({ type: 'Exact', value }))))];
  const ids = [...named, ...others];
  return ids.length === 0 ? [ANYONE] : [{ identifier: { $case: 'andIds', value: { ids } } }];
}

/** Returns the principal that matches these SPIFFE ids. */
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

/** A path prefix matches whole elements; a "/" at its end has no meaning. */
function pathFits({ type, value }: NonNullable<AccessRequestMatch['paths']>[number]): readonly PermissionFields[] {
  if (type === 'Exact') return [pathIs({ $case: 'exact', value })];
  const prefix = value.replace(/\/$/, '');
  const under = pathIs({ $case: 'prefix', value: `${prefix}/` });
  return prefix === '' ? [under] : [pathIs({ $case: 'exact', value: prefix }), under];
}

/** Matches ambiguous paths. It negates "is unambiguous", because a path with bytes that are not UTF-8 matches no regular expression. */
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
