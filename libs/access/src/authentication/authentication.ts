import type { ControlLoop } from '@causeway/loops';
import { ownZone, type Identity } from '@causeway/resources';
import { isOwnGlobalSecret } from '../global-secrets';
import { signingKeySerial } from '../tokens/signing-keys';
import { PresentedTokens } from '../tokens/presented-tokens';
import type { TokenDependencies } from '../tokens/token-issuer';
import { TokenTrust } from '../tokens/token-trust';
import { USER_TOKEN } from '../tokens/token-use';
import { AuthenticationSettings } from './authentication-settings';
import { fetchJson } from './oidc/fetch-json';
import { OidcVerifier } from './oidc/oidc-verifier';
import { Authenticator } from './authenticator';
import { TokenKeyPublisher, unpublishedRevocations } from './token-key-publisher';
import { UserTokenIssuer } from './user-token-issuer';
import { UserTokenVerifier } from './user-token-verifier';

/** Dependencies of `createAuthentication`. */
export interface AuthenticationDependencies extends TokenDependencies {
  /** The static token of an administrator. */
  readonly operatorToken?: string | undefined;
}

/** Authentication of users at one replica; follows the index until `close`. */
export interface Authentication {
  readonly authenticator: Authenticator;
  /** The user tokens of this control plane. */
  readonly tokens: UserTokenIssuer;
  /** Returns how many user tokens that were presented to this replica expire soon (`PresentedTokens`). */
  expiringTokens(): number;
  /**
   * Creates a loop for a term of the global's leader that publishes the keys and revocations of user tokens to zones.
   */
  createKeyPublisher(): ControlLoop;
  /** Returns warnings for the operator who deletes this resource: which tokens end because their key is deleted. */
  deletionWarnings(id: Identity): readonly string[];
  /** Secrets of tokens that cannot be used, in whole or in part, with the reason. */
  faults(): readonly string[];
  close(): void;
}

/** Creates it. The store may have no signing key yet: `tokens.ensureKey` makes it. */
export function createAuthentication(dependencies: AuthenticationDependencies): Authentication {
  const { cp, index, clock, logger, operatorToken } = dependencies;
  const own = new TokenTrust({ ...dependencies, use: USER_TOKEN, zone: ownZone(cp) });
  const settings = new AuthenticationSettings(index);
  const presented = new PresentedTokens(clock);
  const userTokens = new UserTokenVerifier({ cp, own, global: settings, presented, clock });
  const oidc = new OidcVerifier(settings, { ...dependencies, fetchJson });
  const authenticator = new Authenticator({ verifiers: [userTokens, oidc], clock, operatorToken });
  return {
    authenticator,
    tokens: new UserTokenIssuer(dependencies, own),
    expiringTokens: () => presented.expiring(),
    createKeyPublisher: () => new TokenKeyPublisher(dependencies.registry, own, logger),
    deletionWarnings: (id) => {
      const serial = isOwnGlobalSecret(id, ownZone(cp)) ? signingKeySerial(USER_TOKEN, id.name) : undefined;
      return serial === undefined ? [] : [`user tokens signed with key ${serial} are valid no longer without it`];
    },
    faults: () => [...own.faults, ...(cp.role === 'global' ? unpublishedRevocations(own.trustedKeys) : [])],
    close: () => {
      own.close();
      settings.close();
    },
  };
}
