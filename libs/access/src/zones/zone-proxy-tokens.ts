import { Forbidden } from '@causeway/resources';
import type { Clock, Logger } from '@causeway/runtime';
import type { IndexReader } from '@causeway/store';
import { Unauthenticated } from '../authentication/unauthenticated';
import { TokenTrust } from '../tokens/token-trust';
import { ZONE_TOKEN } from '../tokens/token-use';
import { verifyZoneToken } from './zone-token';

/** The zone tokens of a zone's ingress and egress, at one replica of the zone. */
export interface ZoneProxyTokens {
  /**
   * The end of the token's validity, ms since 1970. Throws Unauthenticated with the reason, Forbidden for a token of another
   * zone or without the scope.
   */
  verify(token: string, scope: 'ingress' | 'egress'): Promise<number>;
  /** Calls `listener` when a token may hold no longer, until the returned function is called. */
  onChange(listener: () => void): () => void;
  close(): void;
}

/** The name under which the global sends the public half of its signing keys (docs/reference/kds-wire.md §4.2). */
const PUBLIC_KEYS = { ...ZONE_TOKEN, signingKey: 'zone-token-signing-public-key' };

/**
 * Zone tokens are issued by the global; its zones have the public halves of its keys, and its revocations, by sync. A zone by
 * itself issues its own: its keys are its own GlobalSecrets. Only one of the two is trusted.
 */
export function createZoneProxyTokens(options: {
  readonly zone: string;
  readonly federated: boolean;
  readonly index: IndexReader;
  readonly clock: Pick<Clock, 'now'>;
  readonly logger: Logger;
}): ZoneProxyTokens {
  const { zone, federated, index, clock, logger } = options;
  const sources = { index, logger };
  const trust = federated
    ? new TokenTrust({ ...sources, use: PUBLIC_KEYS, zone: '' })
    : new TokenTrust({ ...sources, use: ZONE_TOKEN, zone });
  return {
    verify: async (token, scope) => {
      if (trust.trustedKeys.keys.size === 0)
        throw new Unauthenticated('this zone knows no signing key of zone tokens yet');
      const claims = await verifyZoneToken(token, trust.trustedKeys, clock.now());
      if (claims.zone !== zone) throw new Forbidden(`the zone token is of zone "${claims.zone}", this is "${zone}"`);
      if (!claims.scope.includes(scope))
        throw new Forbidden(`the zone token has not the scope "${scope}", only ${JSON.stringify(claims.scope)}`);
      return claims.expiresAt;
    },
    onChange: (listener) => trust.onChange(listener),
    close: () => trust.close(),
  };
}
