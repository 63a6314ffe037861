import { type AccessPolicy, Authenticator, CallerRates } from '@causeway/access';
import type { CallerRateSettings, TokenVerifier } from '@causeway/access/testing';
import type { RestAccess } from '@causeway/rest/testing';
import { systemClock, type Clock } from '@causeway/runtime';
import { OpenAuthenticator } from './admin-credential';

/** Access to the server of a test; by default a caller without credentials is an administrator. */
export interface TestAccess {
  readonly operatorToken?: string;
  /** False: who sends no credentials is nobody, as in a control plane. */
  readonly open?: boolean;
  readonly verifiers?: readonly TokenVerifier[];
  /** In place of one of `verifiers` and `operatorToken`. */
  readonly authenticator?: Authenticator;
  readonly rates?: CallerRateSettings;
  readonly clock?: Clock;
}

const NO_LIMIT: CallerRateSettings = { user: 0, address: 0 };

/** The access of a server that answers from the parts of `policy`. */
export function restAccess(policy: AccessPolicy, options: TestAccess = {}): RestAccess {
  const { verifiers = [], operatorToken, clock = systemClock, open = true } = options;
  const parts = { verifiers, clock, operatorToken };
  return {
    authenticator: options.authenticator ?? (open ? new OpenAuthenticator(parts) : new Authenticator(parts)),
    policy,
    rates: new CallerRates(options.rates ?? NO_LIMIT, clock),
  };
}

/** Takes tokens that are written `user:group,group`: what a verifier of real tokens makes of them. */
export const plainTokens: TokenVerifier = {
  verify: (token) => {
    const [, user, groups] = /^([a-z-]+):([a-z,:-]*)$/.exec(token) ?? [];
    if (user === undefined || groups === undefined) return Promise.resolve(undefined);
    const named = groups.split(',').filter((group) => group !== '');
    return Promise.resolve({ user, groups: ['causeway:authenticated', ...named], by: 'user-token' });
  },
};
