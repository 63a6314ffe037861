import { FieldPath, type ControlPlane, type Violation } from '@causeway/resources';
import { ADMINS, isReserved } from '../authorization/caller';
import { isTextList } from '../tokens/signed-token';
import type { TokenDefinition, TokenFacts, TokenRequest } from '../tokens/token-definition';
import type { TokenFamily } from '../tokens/token-family';
import type { IssuedToken } from '../tokens/token-issuer';
import { parseValidity, validityViolations } from '../tokens/validity';
import { Unauthenticated } from '../unauthenticated';

/** Maximum number of groups of a token, and maximum length of the name of a user or group. */
const MAX_GROUPS = 64;
const MAX_NAME_LENGTH = 128;

/** The claims of a user token. */
export interface UserClaims extends TokenFacts {
  readonly name: string;
  readonly groups: readonly string[];
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

/** A request for a user token. */
export interface UserTokenRequest extends TokenRequest {
  readonly name: string;
  readonly groups?: readonly string[];
}

/** Facts that are returned with a user token. */
interface UserTokenAnswer {
  readonly name: string;
  readonly groups: readonly string[];
}

/**
 * Tokens with which users authenticate (docs/guides/access.md). Those of the global are valid everywhere, those of a
 * zone in that zone.
 */
export const USER_TOKEN: TokenDefinition<UserTokenRequest, UserTokenAnswer, UserClaims> = {
  name: 'user token',
  claim: 'Name',
  signingKey: 'user-token-signing-key',
  revocations: 'user-token-revocations',
  records: 'user-tokens',
  validFor: '24h',
  violations: userTokenViolations,
  order: ({ name, groups = [] }, cp) => {
    const facts = { name, groups: [...groups] };
    return { claims: { Name: name, Groups: facts.groups, iss: formatIssuer(cp) }, facts, answer: facts };
  },
  decode: ({ id, expiresAt, payload: { Name: name, Groups: groups = [] } }) => {
    if (typeof name !== 'string' || name === '')
      throw new Unauthenticated('the claim "Name" of the user token must be the name of a user');
    if (!isTextList(groups)) throw new Unauthenticated('the claim "Groups" of the user token must be a list of texts');
    return { id, name, groups, expiresAt };
  },
};

/** A new user token. It is returned once and stored nowhere. */
export type IssuedUserToken = IssuedToken & UserTokenAnswer;

/** User tokens at one replica. */
export type UserTokenFamily = TokenFamily<UserTokenRequest, UserTokenAnswer, UserClaims>;

/** Returns the violations of the given fields of a request. */
export function userTokenViolations({ name, groups, validFor }: Partial<UserTokenRequest>): readonly Violation[] {
  const at = FieldPath.at('name');
  return [
    ...(name === undefined ? [] : [...nameViolations(name, at), ...reservedViolations(name, at)]),
    ...(groups === undefined ? [] : groupViolations(groups)),
    ...(validFor === undefined ? [] : validityViolations(parseValidity(validFor))),
  ];
}

function nameViolations(name: string, at: FieldPath): Violation[] {
  if (name === '') return [at.violation('must not be empty', 'required')];
  if (name.length > MAX_NAME_LENGTH)
    return [at.violation(`must not be longer than ${MAX_NAME_LENGTH} characters, has ${name.length}`, 'too-long')];
  // Control characters, or white space at the ends, would make two users look the same.
  return /^[^\s\p{C}](?:[^\p{C}]*[^\s\p{C}])?$/u.test(name)
    ? []
    : [at.violation('must be one line of text without white space at its ends', 'wrong-form')];
}

function groupViolations(groups: readonly string[]): Violation[] {
  const at = FieldPath.at('groups');
  if (groups.length > MAX_GROUPS)
    return [at.violation(`must not have more than ${MAX_GROUPS} items, has ${groups.length}`, 'too-many')];
  return groups.flatMap((group, i) => [
    ...nameViolations(group, at.index(i)),
    ...(group === ADMINS ? [] : reservedViolations(group, at.index(i))),
  ]);
}

/** Names that authorisation and the audit log use for callers other than token holders. */
function reservedViolations(name: string, at: FieldPath): Violation[] {
  return isReserved(name) ? [at.violation(`must not be a name that the control plane itself uses; got "${name}"`)] : [];
}
