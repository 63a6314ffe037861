import { FieldPath, Forbidden, Invalid, ownZone, type Identity } from '@causeway/resources';
import { Unauthenticated } from '../unauthenticated';
import { isOwnGlobalSecret } from '../global-secrets';
import { signingKeySerial } from '../tokens/signing-keys';
import { PresentedTokens } from '../tokens/presented-tokens';
import type { TokenDependencies } from '../tokens/token-issuer';
import { TokenTrust } from '../tokens/token-trust';
import { ZONE_TOKEN } from '../tokens/token-use';
import { CP_SCOPE, SCOPES, verifyZoneToken } from './zone-token';
import { ZoneTokenIssuer, type IssuedZoneToken, type ZoneTokenRequest } from './zone-token-issuer';

/** The zone tokens of a zone's ingress and egress, at one replica of the zone. */
export interface ZoneProxyTokens {
  /** Issues tokens; absent in a federated zone, whose global issues them. */
  readonly tokens?: ZoneProxyTokenIssuer;
  /**
   * Returns the end of the token's validity, ms since 1970. Throws Unauthenticated with the reason, Forbidden for a
   * token of another zone or without the scope.
   */
  verify(token: string, scope: 'ingress' | 'egress'): Promise<number>;
  /** Returns how many tokens that were presented to this replica expire soon (`PresentedTokens`). */
  expiring(): number;
  /** Calls `listener` when a token may have become invalid, until the returned function is called. */
  onChange(listener: () => void): () => void;
  /** Returns warnings for the operator who deletes this resource: which tokens end because their key is deleted. */
  deletionWarnings(id: Identity): readonly string[];
  /** Secrets named like signing keys that hold none, with the reason. */
  faults(): readonly string[];
  close(): void;
}

/** The name under which the global sends the public half of its signing keys (docs/reference/kds-wire.md §4.2). */
const PUBLIC_KEYS = { ...ZONE_TOKEN, signingKey: 'zone-token-signing-public-key' };

/**
 * Creates the verifier of zone tokens. The global issues them; its zones receive the public halves of its keys, and its
 * revocations, by sync. A zone without a global issues its own: its keys are its own GlobalSecrets. Only one of the two
 * is trusted.
 */
export function createZoneProxyTokens(dependencies: TokenDependencies): ZoneProxyTokens {
  const { cp, clock } = dependencies;
  const zone = ownZone(cp);
  const isFederated = cp.role === 'zone' && cp.federated;
  const trust = isFederated
    ? new TokenTrust({ ...dependencies, use: PUBLIC_KEYS, zone: '' })
    : new TokenTrust({ ...dependencies, use: ZONE_TOKEN, zone });
  const presented = new PresentedTokens(clock);
  return {
    ...(!isFederated && { tokens: new ZoneProxyTokenIssuer(dependencies, trust) }),
    verify: async (token, scope) => {
      if (trust.trustedKeys.keys.size === 0)
        throw new Unauthenticated('this zone knows no signing key of zone tokens yet');
      const claims = await verifyZoneToken(token, trust.trustedKeys, clock.now());
      if (claims.zone !== zone) throw new Forbidden(`the zone token is of zone "${claims.zone}", this is "${zone}"`);
      if (!claims.scope.includes(scope))
        throw new Forbidden(`the zone token has not the scope "${scope}", only ${JSON.stringify(claims.scope)}`);
      presented.note(token);
      return claims.expiresAt;
    },
    expiring: () => presented.expiring(),
    onChange: (listener) => trust.onChange(listener),
    deletionWarnings: (id) => {
      const isOwn = !isFederated && isOwnGlobalSecret(id, zone);
      const serial = isOwn ? signingKeySerial(ZONE_TOKEN, id.name) : undefined;
      return serial === undefined ? [] : [`zone tokens signed with key ${serial} are valid no longer without it`];
    },
    faults: () => (isFederated ? [] : trust.faults),
    close: () => trust.close(),
  };
}

/** Issues the zone tokens of a zone without a global: for its own ingress and egress, since no zone joins it. */
class ZoneProxyTokenIssuer extends ZoneTokenIssuer {
  private readonly issuesFor: string;

  constructor(dependencies: TokenDependencies, trust: TokenTrust) {
    super(dependencies, trust);
    this.issuesFor = ownZone(dependencies.cp);
  }

  /**
   * As on a global; also throws Invalid for another zone and for the scope of a control plane. The first call creates a
   * key.
   */
  override async issue(request: ZoneTokenRequest): Promise<IssuedZoneToken> {
    const { zone, scope = [] } = request;
    const proxies = SCOPES.filter((known) => known !== CP_SCOPE).join(', ');
    const violations = [
      ...(zone === this.issuesFor
        ? []
        : [
            FieldPath.at('zone').violation(
              `must be "${this.issuesFor}", the zone of this control plane; got "${zone}"`,
            ),
          ]),
      ...(scope.length > 0 && !scope.includes(CP_SCOPE)
        ? []
        : [FieldPath.at('scope').violation(`must name ${proxies} only: no zone joins a zone by itself`)]),
    ];
    if (violations.length > 0) throw new Invalid(violations);
    await this.ensureKey();
    return super.issue(request);
  }
}
