import type { ControlPlane } from '@causeway/resources';
import { AUTHENTICATED, type Caller } from '../authorization/caller';
import { unverifiedClaims } from '../tokens/signed-token';
import type { SigningKeySource } from '../tokens/token-family';
import type { TokenVerifier } from './authenticator';
import { Unauthenticated } from '../unauthenticated';
import { formatIssuer, GLOBAL_ISSUER, isControlPlane, type UserTokenFamily } from './user-token';

/** Sources of keys for user tokens. */
export interface UserTokenVerifierSources {
  readonly cp: ControlPlane;
  /** The user tokens of this control plane. */
  readonly own: UserTokenFamily;
  /** Keys of the global, as a federated zone last received them. */
  readonly global: SigningKeySource;
}

/**
 * Verifies user tokens: those of this control plane with its own keys, and in a federated zone those of the global with
 * the public keys that the zone last received. The token of another zone is refused.
 */
export class UserTokenVerifier implements TokenVerifier {
  private readonly sourceOf: ReadonlyMap<string, SigningKeySource>;
  private readonly withoutIssuer: SigningKeySource;

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
    const { cp, own } = this.sources;
    const keys = typeof issuer === 'string' ? this.sourceOf.get(issuer) : this.withoutIssuer;
    if (!keys)
      throw new Unauthenticated(
        `the user token was issued by ${String(issuer).slice(0, 100)} and is not valid here, at ${formatIssuer(cp)}`,
      );
    const { id, name, groups, expiresAt } = await own.verify(token, { keys });
    return { user: name, groups: [...groups, AUTHENTICATED], by: 'user-token', tokenId: id, until: expiresAt };
  }

  onChange(listener: () => void): () => void {
    const stops = [this.sources.own, this.sources.global].map((source) => source.onChange(listener));
    return () => stops.forEach((stop) => stop());
  }
}
