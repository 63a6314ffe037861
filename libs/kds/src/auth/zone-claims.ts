import { Unauthenticated } from './unauthenticated';

/** The scope that lets a control plane join; Kuma's `ingress` and `egress` are for proxies (kds.md §7). */
export const CP_SCOPE = 'cp';

/** Every scope that a zone token may have. */
export const SCOPES = [CP_SCOPE, 'ingress', 'egress'] as const;

/** What a zone token says. */
export interface ZoneClaims {
  /** `jti`: what a revocation names. */
  readonly id: string;
  readonly zone: string;
  readonly scope: readonly string[];
  /** ms since 1970. */
  readonly expiresAt: number;
}

/** The payload as Kuma writes it, but for the registered claims: our own keys are capitalised. */
export function claimPayload({ zone, scope }: Pick<ZoneClaims, 'zone' | 'scope'>): Record<string, unknown> {
  return { Zone: zone, Scope: [...scope] };
}

/** Reads a verified payload. Throws Unauthenticated for what is no zone token. */
export function readClaims(payload: Readonly<Record<string, unknown>>): ZoneClaims {
  const { jti, exp, Zone: zone, Scope: scope = [] } = payload;
  if (typeof jti !== 'string' || jti === '') throw new Unauthenticated('the zone token has no jti');
  if (typeof exp !== 'number') throw new Unauthenticated('the zone token has no exp: it would be valid for ever');
  if (typeof zone !== 'string' || zone === '')
    throw new Unauthenticated('the token has no claim "Zone": it is no zone token');
  if (!isTextList(scope)) throw new Unauthenticated('the claim "Scope" of the zone token must be a list of texts');
  return { id: jti, zone, scope, expiresAt: exp * 1_000 };
}

function isTextList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}
