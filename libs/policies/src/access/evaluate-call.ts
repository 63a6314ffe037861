import { mayBeAnonymous, mayCall, type AccessRequest, type AccessRules } from './access-rules';

/** Inputs by which the proxy of an instance decides which callers to allow. */
export interface InboundAccess {
  readonly mtls: 'Strict' | 'Permissive' | 'Off';
  /** Rules of AccessPolicies: each must allow the call. */
  readonly rules: readonly AccessRules[];
  /** Callers that are allowed regardless of the rules; an empty list allows nobody. */
  readonly callers: readonly string[] | 'anyone';
  /** SPIFFE ids that are always refused. */
  readonly revoked: readonly string[];
  /** Whether the proxy sees requests, not only connections. */
  readonly seesRequests: boolean;
}

/**
 * Result of a call and its reason: a rule (`deny/x`, `allow/x`), no matching rule of `allow`, `defaultAccess`, an
 * ambiguous path, missing TLS of the mesh (`mtls`), a missing identity that policies require, or a revoked one.
 */
export interface CallResult {
  readonly isAllowed: boolean;
  /** One entry for each of the rules that allow a call, or the one that refuses it. `rules`: the index of the rules. */
  readonly by: readonly { readonly rules: number | undefined; readonly what: string }[];
}

/**
 * Evaluates a call as the proxy of an instance does: the handshake, revocations, then AccessPolicies
 * (docs/reference/policies-shipped.md, AccessPolicy). `id`: the SPIFFE id of the caller, undefined if it has none.
 * Linear in the rules.
 */
export function evaluateCall(inbound: InboundAccess, id: string | undefined, request?: AccessRequest): CallResult {
  const { mtls, rules, callers, revoked, seesRequests } = inbound;
  const shown = mtls === 'Off' ? undefined : id;
  const refused = (what: string, at?: number): CallResult => ({ isAllowed: false, by: [{ rules: at, what }] });
  if (callers !== 'anyone' && (shown === undefined || !callers.includes(shown))) return refused('defaultAccess');
  if (shown === undefined) {
    if (mtls === 'Strict') return refused('mtls');
    if (!rules.every(mayBeAnonymous)) return refused('identity');
  } else if (revoked.includes(shown)) return refused('revoked');
  const results = rules.map((each) => mayCall(each, shown, seesRequests ? request : undefined));
  const at = results.findIndex(({ isAllowed }) => !isAllowed);
  const by = results[at]?.by;
  if (by !== undefined) return refused(by, at);
  if (results.length === 0) return { isAllowed: true, by: [{ rules: undefined, what: 'defaultAccess' }] };
  return { isAllowed: true, by: results.map((each, n) => ({ rules: n, what: each.by })) };
}
