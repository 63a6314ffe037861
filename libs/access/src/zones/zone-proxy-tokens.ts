import { FieldPath, Forbidden, ownZone, type Violation } from '@causeway/resources';
import { Unauthenticated } from '../unauthenticated';
import { TokenFamily } from '../tokens/token-family';
import type { TokenDependencies } from '../tokens/token-issuer';
import { CP_SCOPE, requireScope, SCOPES, ZONE_TOKEN } from './zone-token';
import type { ZoneClaims, ZoneTokenFamily, ZoneTokenRequest } from './zone-token';

/** The zone tokens of a zone's ingress and egress, at one replica of the zone. */
export interface ZoneProxyTokens extends Pick<
  ZoneTokenFamily,
  'expiring' | 'onChange' | 'deletionWarnings' | 'faults' | 'close'
> {
  /** Issues tokens; absent in a federated zone, whose global issues them. */
  readonly tokens?: ZoneTokenFamily['tokens'];
  /**
   * Returns the end of the token's validity, ms since 1970. Throws Unauthenticated with the reason, Forbidden for a
   * token of another zone or without the scope.
   */
  verify(token: string, scope: 'ingress' | 'egress'): Promise<number>;
}

/** Zone tokens as a federated zone verifies them: the global sends the public half of its keys under this name (docs/reference/kds-wire.md §4.2). */
const TOKEN_OF_GLOBAL = { ...ZONE_TOKEN, signingKey: 'zone-token-signing-public-key' };

/** Zone tokens that a zone without a global issues: for its own ingress and egress, since no zone joins it. */
const ZONE_PROXY_TOKEN: typeof ZONE_TOKEN = {
  ...ZONE_TOKEN,
  makesFirstKey: true,
  violations: (request, cp) => {
    const misplaced = misplacedFields(request, ownZone(cp));
    return misplaced.length > 0 ? misplaced : ZONE_TOKEN.violations(request, cp);
  },
};

/**
 * Creates the verifier of zone tokens. The global issues them; its zones receive the public halves of its keys, and its
 * revocations, by sync. A zone without a global issues its own: its keys are its own GlobalSecrets. Only one of the two
 * is trusted.
 */
export function createZoneProxyTokens(dependencies: TokenDependencies): ZoneProxyTokens {
  const { cp } = dependencies;
  const zone = ownZone(cp);
  const isFederated = cp.role === 'zone' && cp.federated;
  const family = isFederated
    ? new TokenFamily(TOKEN_OF_GLOBAL, dependencies, { zone: '' })
    : new TokenFamily(ZONE_PROXY_TOKEN, dependencies);
  return {
    ...(!isFederated && { tokens: family.tokens }),
    verify: async (token, scope) => {
      if (family.trustedKeys.keys.size === 0)
        throw new Unauthenticated('this zone knows no signing key of zone tokens yet');
      const check = (claims: ZoneClaims): void => {
        if (claims.zone !== zone) throw new Forbidden(`the zone token is of zone "${claims.zone}", this is "${zone}"`);
        requireScope(claims, scope);
      };
      return (await family.verify(token, { check })).expiresAt;
    },
    expiring: () => family.expiring(),
    onChange: (listener) => family.onChange(listener),
    deletionWarnings: (id) => (isFederated ? [] : family.deletionWarnings(id)),
    faults: () => (isFederated ? [] : family.faults()),
    close: () => family.close(),
  };
}

/** Returns the violations of a request for another zone, or with the scope of a control plane. */
function misplacedFields({ zone, scope = [] }: ZoneTokenRequest, own: string): readonly Violation[] {
  const proxies = SCOPES.filter((known) => known !== CP_SCOPE).join(', ');
  return [
    ...(zone === own
      ? []
      : [FieldPath.at('zone').violation(`must be "${own}", the zone of this control plane; got "${zone}"`)]),
    ...(scope.length > 0 && !scope.includes(CP_SCOPE)
      ? []
      : [FieldPath.at('scope').violation(`must name ${proxies} only: no zone joins a zone by itself`)]),
  ];
}
