import { checkName, FieldPath, Forbidden, type Violation } from '@causeway/resources';
import { Unauthenticated } from '../unauthenticated';
import { BACKDATED, isTextList, LINE_CLAIM, unverifiedClaims } from '../tokens/signed-token';
import type { TokenDefinition, TokenFacts, TokenRequest, VerifiedToken } from '../tokens/token-definition';
import type { TokenFamily } from '../tokens/token-family';
import type { IssuedToken } from '../tokens/token-issuer';
import { parseValidity, validityViolations } from '../tokens/validity';

/** Scope with which a control plane joins; Kuma's `ingress` and `egress` are for proxies. */
export const CP_SCOPE = 'cp';

/** The claim of a renewed token that says how many renewals led to it. */
export const GENERATION_CLAIM = 'Renewal';

/** The claim of a token that cannot be renewed. */
const NO_RENEWAL_CLAIM = 'NoRenewal';

/** Every scope that a zone token may have. */
export const SCOPES = [CP_SCOPE, 'ingress', 'egress'] as const;

/** The claims of a zone token. */
export interface ZoneClaims extends TokenFacts {
  readonly zone: string;
  readonly scope: readonly string[];
  /** The id of the first token of its line: its own where it was not renewed. */
  readonly line: string;
  /** Number of renewals that led to it. */
  readonly generation: number;
  /** Whether it may be renewed. */
  readonly isRenewable: boolean;
  /** ms since 1970. */
  readonly issuedAt: number;
  /** ms. */
  readonly validity: number;
}

/** A request for a zone token. */
export interface ZoneTokenRequest extends TokenRequest {
  readonly zone: string;
  /** `["cp"]` by default: the token of a control plane. */
  readonly scope?: readonly string[];
  /** `false`: the token cannot be renewed. */
  readonly renew?: boolean;
}

/** Facts that are returned with a zone token. */
interface ZoneTokenAnswer {
  readonly zone: string;
  readonly scope: readonly string[];
}

/** Tokens with which zones join the global (docs/design.md §5 Zone tokens). Zone and scope are checked by the caller. */
export const ZONE_TOKEN: TokenDefinition<ZoneTokenRequest, ZoneTokenAnswer, ZoneClaims> = {
  name: 'zone token',
  claim: 'Zone',
  signingKey: 'zone-token-signing-key',
  revocations: 'zone-token-revocations',
  records: 'zone-tokens',
  validFor: '720h',
  violations: zoneTokenViolations,
  order: ({ zone, scope = [CP_SCOPE], renew = true }) => {
    const answer = { zone, scope: [...scope] };
    const claims = { Zone: zone, Scope: answer.scope, ...(renew ? {} : { [NO_RENEWAL_CLAIM]: true }) };
    return { claims, facts: { ...answer, ...(renew ? {} : { renew }) }, answer };
  },
  decode: ({ id, expiresAt, payload }) => {
    const { Zone: zone, Scope: scope = [] } = payload;
    if (typeof zone !== 'string' || zone === '')
      throw new Unauthenticated('the claim "Zone" of the zone token must be the name of a zone');
    if (!isTextList(scope)) throw new Unauthenticated('the claim "Scope" of the zone token must be a list of texts');
    return { id, zone, scope, expiresAt, ...decodeLineage(id, payload) };
  },
};

type Lineage = Pick<ZoneClaims, 'line' | 'generation' | 'isRenewable' | 'issuedAt' | 'validity'>;

function decodeLineage(id: string, payload: VerifiedToken['payload']): Lineage {
  const { [LINE_CLAIM]: line, [GENERATION_CLAIM]: generation, [NO_RENEWAL_CLAIM]: isLast, iat, exp } = payload;
  const issuedAt = typeof iat === 'number' ? (iat + BACKDATED) * 1_000 : 0;
  return {
    line: typeof line === 'string' ? line : id,
    generation: typeof generation === 'number' ? generation : 0,
    isRenewable: isLast !== true && issuedAt > 0,
    issuedAt,
    validity: Number(exp) * 1_000 - issuedAt,
  };
}

/** Returns the violations of the given fields of a request. */
export function zoneTokenViolations({ zone, scope, validFor }: Partial<ZoneTokenRequest>): readonly Violation[] {
  return [
    ...(zone === undefined ? [] : zoneViolations(zone)),
    ...(scope === undefined ? [] : scopeViolations(scope)),
    ...(validFor === undefined ? [] : validityViolations(parseValidity(validFor))),
  ];
}

function zoneViolations(zone: string): Violation[] {
  const at = FieldPath.at('zone');
  if (zone.length > 63) return [at.violation(`must not be longer than 63 characters, has ${zone.length}`)];
  return [...checkName(zone, at)];
}

function scopeViolations(scope: readonly string[]): Violation[] {
  const at = FieldPath.at('scope');
  if (scope.length === 0) return [at.violation(`must name at least one of ${SCOPES.join(', ')}`)];
  if (scope.length > SCOPES.length) return [at.violation(`must not have more than ${SCOPES.length} items`)];
  return scope.flatMap((name, i) =>
    SCOPES.some((known) => known === name)
      ? []
      : [at.index(i).violation(`must be one of ${SCOPES.join(', ')}; got "${name}"`)],
  );
}

/** A new zone token. It is returned once and stored nowhere. */
export type IssuedZoneToken = IssuedToken & ZoneTokenAnswer;

/** Zone tokens at one replica. */
export type ZoneTokenFamily = TokenFamily<ZoneTokenRequest, ZoneTokenAnswer, ZoneClaims>;

/** Throws Forbidden if the token was not issued for the use `wanted`. */
export function requireScope({ scope }: ZoneClaims, wanted: (typeof SCOPES)[number]): void {
  if (scope.includes(wanted)) return;
  throw new Forbidden(`the zone token has not the scope "${wanted}", only ${JSON.stringify(scope)}`);
}

/** Facts of a zone token. */
export interface ZoneTokenFacts {
  readonly zone: string;
  /** `jti`. */
  readonly id?: string;
  /** `iat`, ms since 1970. */
  readonly issuedAt?: number;
  /** `exp`, ms since 1970. */
  readonly expiresAt?: number;
  /** Whether the token may be renewed. */
  readonly isRenewable: boolean;
}

/** Returns the facts of a zone token before verification; undefined for text that is no zone token. */
export function zoneTokenFacts(token: string): ZoneTokenFacts | undefined {
  const claims = /^[\w-]+\.[\w-]+\.[\w-]+$/.test(token) ? unverifiedClaims(token) : undefined;
  const { Zone: zone, jti, iat, exp, [NO_RENEWAL_CLAIM]: isLast } = claims ?? {};
  if (typeof zone !== 'string' || zone === '') return undefined;
  return {
    zone,
    isRenewable: isLast !== true,
    ...(typeof jti === 'string' && { id: jti }),
    ...(typeof iat === 'number' && { issuedAt: iat * 1_000 }),
    ...(typeof exp === 'number' && { expiresAt: exp * 1_000 }),
  };
}
