import {
  type AccessPolicy,
  Authenticator,
  CallerRates,
  type CallerRateSettings,
  type TokenVerifier,
} from '@causeway/access';
import type { RestAccess } from '@causeway/rest';
import { systemClock, type Clock } from '@causeway/runtime';

/** What a test says of who may reach its server; without more a program on this machine is an administrator. */
export interface TestAccess {
  readonly bindAddress?: string;
  readonly operatorToken?: string;
  readonly localhostIsAdmin?: boolean;
  readonly verifiers?: readonly TokenVerifier[];
  /** In place of one of `verifiers` and `operatorToken`. */
  readonly authenticator?: Authenticator;
  readonly rates?: CallerRateSettings;
  readonly clock?: Clock;
}

const NO_LIMIT: CallerRateSettings = { user: 0, address: 0 };

/** The access of a server that answers from the parts of `policy`. */
export function restAccess(policy: AccessPolicy, options: TestAccess = {}): RestAccess {
  const { verifiers = [], operatorToken, clock = systemClock } = options;
  return {
    bindAddress: options.bindAddress ?? '127.0.0.1',
    localhostIsAdmin: options.localhostIsAdmin ?? true,
    authenticator: options.authenticator ?? new Authenticator({ verifiers, clock, operatorToken }),
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
