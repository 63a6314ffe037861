import { FieldPath, Invalid, type Violation } from '@causeway/resources';
import { ADMINS, isReserved } from '../authorization/caller';
import { TokenIssuer, type IssuedToken, type TokenDependencies } from '../tokens/token-issuer';
import type { TokenTrust } from '../tokens/token-trust';
import { USER_TOKEN } from '../tokens/token-use';
import { parseValidity, validityViolations } from '../tokens/validity';
import { formatIssuer, userPayload } from './user-token';

/** Default validity of a user token: a day. */
const USER_TOKEN_VALIDITY = '24h';

/** A request for a user token. */
export interface UserTokenRequest {
  readonly name: string;
  readonly groups?: readonly string[];
  /** A duration such as `24h` or `30d`; `USER_TOKEN_VALIDITY` by default. */
  readonly validFor?: string;
  /** The user who asks for it. */
  readonly issuedBy?: string;
}

/** A new user token. It is returned once and stored nowhere. */
export interface IssuedUserToken extends IssuedToken {
  readonly name: string;
  readonly groups: readonly string[];
}

/** Maximum number of groups of a token, and maximum length of the name of a user or group. */
const MAX_GROUPS = 64;
const MAX_NAME_LENGTH = 128;

/**
 * User tokens of a control plane (docs/guides/access.md). Those of the global are valid everywhere, those of a zone in
 * that zone.
 */
export class UserTokenIssuer extends TokenIssuer {
  private readonly issuer: string;

  constructor(dependencies: TokenDependencies, trust: TokenTrust) {
    super(dependencies, trust, USER_TOKEN);
    this.issuer = formatIssuer(dependencies.cp);
  }

  /** Issues a token, signed with the newest key. Throws Invalid, and what `issueToken` throws. */
  async issue(request: UserTokenRequest): Promise<IssuedUserToken> {
    const { name, groups = [], validFor = USER_TOKEN_VALIDITY, issuedBy = '' } = request;
    const validity = parseValidity(validFor);
    const violations = userTokenViolations({ name, groups, validFor });
    if (violations.length > 0 || !validity.ok) throw new Invalid(violations);
    const facts = { name, groups: [...groups] };
    const claims = userPayload({ name, groups, issuer: this.issuer });
    return { ...(await this.issueToken({ claims, facts, validity: validity.ms, issuedBy })), ...facts };
  }
}

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
  // // Control characters, or white space at the ends, would make two users look the same.
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
