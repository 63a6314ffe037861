import { ownZone, type Identity } from '@causeway/resources';
import type { IndexChange } from '@causeway/store';
import { isOwnGlobalSecret } from '../global-secrets';
import { PresentedTokens } from './presented-tokens';
import { verifyToken, type TrustedKeys } from './signed-token';
import { signingKeySerial } from './signing-keys';
import type { TokenDefinition, TokenFacts, TokenRequest } from './token-definition';
import { TokenIssuer, type TokenDependencies } from './token-issuer';
import { TokenTrust } from './token-trust';

/** Keys and revocations; they may change between two reads. */
export interface SigningKeySource {
  readonly trustedKeys: TrustedKeys;
  /** Calls `listener` after a change that may end trust, until the returned function is called. */
  onChange(listener: () => void): () => void;
}

/** Departures from a family whose keys are GlobalSecrets of this control plane. */
export interface TrustOptions {
  /** The zone of the GlobalSecrets; by default that of this control plane. */
  readonly zone?: string;
  /** Matches further changes, besides those of keys and revocations, that may end trust. */
  readonly endsTrust?: (change: IndexChange) => boolean;
}

/** Verification of one token. */
export interface VerifyOptions<Claims> {
  /** Keys of another control plane; by default those of the family. */
  readonly keys?: Pick<SigningKeySource, 'trustedKeys'>;
  /** Throws if a valid token does not authorise what its bearer asks for. */
  readonly check?: (claims: Claims) => void;
}

/**
 * The tokens of one use at one replica: issues, verifies and counts them. Follows keys and revocations until `close`.
 * The store may have no signing key yet: `tokens.ensureKey` makes it.
 */
export class TokenFamily<
  Request extends TokenRequest,
  Answer extends object,
  Claims extends TokenFacts,
> implements SigningKeySource {
  readonly tokens: TokenIssuer<Request, Answer, Claims>;
  private readonly trust: TokenTrust;
  private readonly presented: PresentedTokens;
  private readonly zone: string;

  constructor(
    private readonly definition: TokenDefinition<Request, Answer, Claims>,
    private readonly dependencies: TokenDependencies,
    { zone = ownZone(dependencies.cp), endsTrust }: TrustOptions = {},
  ) {
    this.zone = zone;
    this.trust = new TokenTrust({ ...dependencies, use: definition, zone, ...(endsTrust && { endsTrust }) });
    this.presented = new PresentedTokens(dependencies.clock);
    this.tokens = new TokenIssuer(definition, dependencies, this.trust);
  }

  /** Returns the claims of a token that is valid now. Throws Unauthenticated with the reason, and what `check` throws. */
  async verify(token: string, { keys = this, check }: VerifyOptions<Claims> = {}): Promise<Claims> {
    const claims = await verifyToken(token, this.definition, keys.trustedKeys, this.dependencies.clock.now());
    check?.(claims);
    this.presented.record(token);
    return claims;
  }

  get trustedKeys(): TrustedKeys {
    return this.trust.trustedKeys;
  }

  /** Returns how many tokens that were presented to this replica expire soon (`PresentedTokens`). */
  expiring(): number {
    return this.presented.expiring();
  }

  /** Calls `listener` when a token may have become invalid, until the returned function is called. */
  onChange(listener: () => void): () => void {
    return this.trust.onChange(listener);
  }

  /** Returns the serial of the signing key that this resource holds; undefined for other resources. */
  serialOf(id: Identity): number | undefined {
    return isOwnGlobalSecret(id, this.zone) ? signingKeySerial(this.definition, id.name) : undefined;
  }

  /** Returns warnings for the operator who deletes this resource: which tokens end because their key is deleted. */
  deletionWarnings(id: Identity): readonly string[] {
    const serial = this.serialOf(id);
    return serial === undefined
      ? []
      : [`${this.definition.name}s signed with key ${serial} are valid no longer without it`];
  }

  /** Secrets named like signing keys that hold none, with the reason. */
  faults(): readonly string[] {
    return this.trust.faults;
  }

  close(): void {
    this.trust.close();
  }
}
