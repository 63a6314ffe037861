import { jwtVerify, type JWTPayload } from 'jose';
import { errorText } from '@causeway/runtime';
import { AUTHENTICATED, isReserved, type Caller } from '../../authorization/caller';
import { isTextList, refusalText, unverifiedClaims } from '../../tokens/signed-token';
import type { AuthenticationSettings, OidcIssuer } from '../authentication-settings';
import type { TokenVerifier } from '../authenticator';
import { Unauthenticated } from '../../unauthenticated';
import { forgetKeySets, IssuerKeys, type IssuerKeysSources } from './issuer-keys';

/** Accepted signature algorithms of issuers: nothing symmetric, and not `none`. */
const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'];

/** Tolerated clock difference, s. */
const CLOCK_TOLERANCE = 5;

/**
 * Verifies tokens of the OIDC issuers that the AuthenticationConfiguration names: signature, `iss`, `aud`, `exp`,
 * `nbf`, and the claims of name and groups. Reserved groups are dropped: a group of the issuer makes administrators
 * only by a RoleBinding.
 */
export class OidcVerifier implements TokenVerifier {
  private readonly keys = new Map<string, IssuerKeys>();

  constructor(
    private readonly settings: AuthenticationSettings,
    private readonly sources: IssuerKeysSources,
  ) {
    settings.onChange(() => this.adapt());
  }

  async verify(token: string): Promise<Caller | undefined> {
    const named: unknown = unverifiedClaims(token)?.iss;
    const issuer = this.settings.issuers.find((one) => one.issuer === named);
    if (!issuer) return undefined;
    const { payload } = await jwtVerify(token, this.getIssuerKeys(issuer).find, {
      algorithms: ALGORITHMS,
      issuer: issuer.issuer,
      audience: [...issuer.audiences],
      requiredClaims: ['exp'],
      clockTolerance: CLOCK_TOLERANCE,
      currentDate: new Date(this.sources.clock.now()),
    }).catch((error: unknown) => {
      throw error instanceof Unauthenticated
        ? error
        : new Unauthenticated(refusalText(error, 'the OIDC token', ALGORITHMS), { cause: error });
    });
    return toCaller(payload, issuer);
  }

  private getIssuerKeys(issuer: OidcIssuer): IssuerKeys {
    const known = this.keys.get(issuer.issuer);
    if (known) return known;
    const made = new IssuerKeys(issuer, this.sources);
    this.keys.set(issuer.issuer, made);
    return made;
  }

  /**
   * Keeps the keys of issuers with unchanged settings, so that a change of one issuer does not fetch keys of the
   * others.
   */
  private adapt(): void {
    const { issuers } = this.settings;
    const trusted = new Set(issuers.map((issuer) => JSON.stringify(issuer)));
    for (const [url, keys] of this.keys) {
      if (trusted.has(JSON.stringify(keys.settings))) continue;
      keys.close();
      this.keys.delete(url);
    }
    forgetKeySets(this.sources.store, issuers).catch((error: unknown) =>
      this.sources.logger.warn('the keys of former OIDC issuers are still stored', { error: errorText(error) }),
    );
  }
}

function toCaller(payload: JWTPayload, issuer: OidcIssuer): Caller {
  const { usernameClaim, groupsClaim, usernamePrefix, groupsPrefix } = issuer;
  const name = payload[usernameClaim];
  if (typeof name !== 'string' || name === '')
    throw new Unauthenticated(`the claim "${usernameClaim}" of the OIDC token must be the name of a user`);
  const { email_verified: verified } = payload;
  // Some issuers write the claim as text; any other value proves nothing.
  if (usernameClaim === 'email' && verified !== undefined && verified !== true && verified !== 'true')
    throw new Unauthenticated('the OIDC token says that the e-mail address of its user is not verified');
  const user = `${usernamePrefix}${name}`;
  if (isReserved(user))
    throw new Unauthenticated(
      `the claim "${usernameClaim}" of the OIDC token must not be a name that the control plane itself uses; got "${user.slice(0, 100)}"`,
    );
  const groups = payload[groupsClaim] ?? [];
  if (!isTextList(groups))
    throw new Unauthenticated(`the claim "${groupsClaim}" of the OIDC token must be a list of texts`);
  const own = groups.map((group) => `${groupsPrefix}${group}`).filter((group) => !isReserved(group));
  return {
    user,
    groups: [...own, AUTHENTICATED],
    by: 'oidc',
    ...(typeof payload.jti === 'string' ? { tokenId: payload.jti.slice(0, 200) } : {}),
    ...(typeof payload.exp === 'number' ? { until: payload.exp * 1_000 } : {}),
  };
}
