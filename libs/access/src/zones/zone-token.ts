import type { JsonObject } from '@causeway/resources';
import { Unauthenticated } from '../unauthenticated';
import { isTextList, unverifiedClaims, verifyToken, type TokenFacts, type TrustedKeys } from '../tokens/signed-token';
import { ZONE_TOKEN } from '../tokens/token-use';

/** Scope with which a control plane joins; Kuma's `ingress` and `egress` are for proxies. */
export const CP_SCOPE = 'cp';

/** Every scope that a zone token may have. */
export const SCOPES = [CP_SCOPE, 'ingress', 'egress'] as const;

/** The claims of a zone token. */
export interface ZoneClaims extends TokenFacts {
  readonly zone: string;
  readonly scope: readonly string[];
}

/**
 * Returns the claims of a token that is valid at `now` (ms since 1970). Throws Unauthenticated with the reason, as
 * `verifyToken` does. Does not check zone and scope.
 */
export async function verifyZoneToken(token: string, trusted: TrustedKeys, now: number): Promise<ZoneClaims> {
  const { id, expiresAt, payload } = await verifyToken(token, ZONE_TOKEN, trusted, now);
  const { Zone: zone, Scope: scope = [] } = payload;
  if (typeof zone !== 'string' || zone === '')
    throw new Unauthenticated('the claim "Zone" of the zone token must be the name of a zone');
  if (!isTextList(scope)) throw new Unauthenticated('the claim "Scope" of the zone token must be a list of texts');
  return { id, zone, scope, expiresAt };
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
}

/** Returns the facts of a zone token before verification; undefined for text that is no zone token. */
export function zoneTokenFacts(token: string): ZoneTokenFacts | undefined {
  const claims = /^[\w-]+\.[\w-]+\.[\w-]+$/.test(token) ? unverifiedClaims(token) : undefined;
  const { Zone: zone, jti, iat, exp } = claims ?? {};
  if (typeof zone !== 'string' || zone === '') return undefined;
  return {
    zone,
    ...(typeof jti === 'string' && { id: jti }),
    ...(typeof iat === 'number' && { issuedAt: iat * 1_000 }),
    ...(typeof exp === 'number' && { expiresAt: exp * 1_000 }),
  };
}

/** Returns the private claims, capitalised as Kuma writes them. */
export function zonePayload({ zone, scope }: Pick<ZoneClaims, 'zone' | 'scope'>): JsonObject {
  return { Zone: zone, Scope: [...scope] };
}
