import type { ControlPlane, JsonObject } from '@causeway/resources';
import { isTextList, verifyToken, type TokenFacts, type TrustedKeys } from '../tokens/signed-token';
import { USER_TOKEN } from '../tokens/token-use';
import { Unauthenticated } from '../unauthenticated';

/** The claims of a user token. */
export interface UserClaims extends TokenFacts {
  readonly name: string;
  readonly groups: readonly string[];
  /** The control plane that issued the token: `GLOBAL_ISSUER`, or that of a zone. */
  readonly issuer: string;
}

/** Claim `iss` of the global's tokens. They are valid everywhere, and so is a token without the claim, like Kuma's. */
export const GLOBAL_ISSUER = 'causeway:global';

/** Returns the claim `iss` of the tokens of a control plane. */
export function formatIssuer(cp: ControlPlane): string {
  return cp.role === 'global' ? GLOBAL_ISSUER : `causeway:zone:${cp.zone}`;
}

/** Whether a claim `iss` names a control plane; all others name OIDC issuers. */
export function isControlPlane(issuer: string): boolean {
  return issuer.startsWith('causeway:');
}

/** Returns the private claims as Kuma writes them, and the issuer. */
export function userPayload({ name, groups, issuer }: Pick<UserClaims, 'name' | 'groups' | 'issuer'>): JsonObject {
  return { Name: name, Groups: [...groups], iss: issuer };
}

/**
 * Returns the claims of a token that is valid at `now` (ms since 1970) by the keys of its issuer. Throws
 * Unauthenticated with the reason, as `verifyToken` does.
 */
export async function verifyUserToken(token: string, trusted: TrustedKeys, now: number): Promise<UserClaims> {
  const { id, expiresAt, payload } = await verifyToken(token, USER_TOKEN, trusted, now);
  const { Name: name, Groups: groups = [], iss: issuer = GLOBAL_ISSUER } = payload;
  if (typeof name !== 'string' || name === '')
    throw new Unauthenticated('the claim "Name" of the user token must be the name of a user');
  if (!isTextList(groups)) throw new Unauthenticated('the claim "Groups" of the user token must be a list of texts');
  return { id, name, groups, issuer, expiresAt };
}
