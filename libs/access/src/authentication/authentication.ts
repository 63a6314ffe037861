import type { ControlLoop } from '@causeway/loops';
import type { Identity } from '@causeway/resources';
import { TokenFamily } from '../tokens/token-family';
import type { TokenDependencies } from '../tokens/token-issuer';
import { AuthenticationSettings } from './authentication-settings';
import { fetchJson } from './oidc/fetch-json';
import { OidcVerifier } from './oidc/oidc-verifier';
import { Authenticator } from './authenticator';
import { TokenKeyPublisher, unpublishedRevocations } from './token-key-publisher';
import { USER_TOKEN, type UserTokenFamily } from './user-token';
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
  readonly tokens: UserTokenFamily['tokens'];
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
  const own = new TokenFamily(USER_TOKEN, dependencies);
  const settings = new AuthenticationSettings(index);
  const userTokens = new UserTokenVerifier({ cp, own, global: settings });
  const oidc = new OidcVerifier(settings, { ...dependencies, fetchJson });
  const authenticator = new Authenticator({ verifiers: [userTokens, oidc], clock, operatorToken });
  return {
    authenticator,
    tokens: own.tokens,
    expiringTokens: () => own.expiring(),
    createKeyPublisher: () => new TokenKeyPublisher(dependencies.registry, own, logger),
    deletionWarnings: (id) => own.deletionWarnings(id),
    faults: () => [...own.faults(), ...(cp.role === 'global' ? unpublishedRevocations(own.trustedKeys) : [])],
    close: () => {
      own.close();
      settings.close();
    },
  };
}
