import type { ControlPlane } from '@causeway/resources';
import type { Clock } from '@causeway/runtime';
import { AUTHENTICATED, type Caller } from '../authorization/caller';
import type { PresentedTokens } from '../tokens/presented-tokens';
import { unverifiedClaims, type TrustedKeys } from '../tokens/signed-token';
import type { TokenVerifier } from './authenticator';
import { Unauthenticated } from '../unauthenticated';
import { GLOBAL_ISSUER, isControlPlane, formatIssuer, verifyUserToken } from './user-token';

/** Keys and revocations of a control plane; they may change between two reads. */
export interface KeySource {
  readonly trustedKeys: TrustedKeys;
  /** Calls `listener` after each change, until the returned function is called. */
  onChange(listener: () => void): () => void;
}

/** Sources of keys for user tokens. */
export interface UserTokenVerifierSources {
  readonly cp: ControlPlane;
  /** The keys of this control plane. */
  readonly own: KeySource;
  /** Keys of the global, as a federated zone last received them. */
  readonly global: KeySource;
  /** Records tokens that are valid. */
  readonly presented: Pick<PresentedTokens, 'note'>;
  readonly clock: Pick<Clock, 'now'>;
}

/**
 * Verifies user tokens: those of this control plane with its own keys, and in a federated zone those of the global with
 * the public keys that the zone last received. The token of another zone is refused.
 */
export class UserTokenVerifier implements TokenVerifier {
  private readonly sourceOf: ReadonlyMap<string, KeySource>;
  private readonly withoutIssuer: KeySource;

  constructor(private readonly sources: UserTokenVerifierSources) {
    const { cp, own, global } = sources;
    const federated = cp.role === 'zone' && cp.federated;
    this.sourceOf = new Map([...(federated ? [[GLOBAL_ISSUER, global] as const] : []), [formatIssuer(cp), own]]);
    this.withoutIssuer = federated ? global : own;
  }

  async verify(token: string): Promise<Caller | undefined> {
    const claims = unverifiedClaims(token);
    const issuer: unknown = claims?.iss;
    if (!claims || (issuer !== undefined && !(typeof issuer === 'string' && isControlPlane(issuer)))) return undefined;
    const { clock, cp, presented } = this.sources;
    const source = typeof issuer === 'string' ? this.sourceOf.get(issuer) : this.withoutIssuer;
    if (!source)
      throw new Unauthenticated(
        `the user token was issued by ${String(issuer).slice(0, 100)} and does not hold here, at ${formatIssuer(cp)}`,
      );
    const { id, name, groups, expiresAt } = await verifyUserToken(token, source.trustedKeys, clock.now());
    presented.note(token);
    return { user: name, groups: [...groups, AUTHENTICATED], by: 'user-token', tokenId: id, until: expiresAt };
  }

  onChange(listener: () => void): () => void {
    const stops = [this.sources.own, this.sources.global].map((source) => source.onChange(listener));
    return () => stops.forEach((stop) => stop());
  }
}
