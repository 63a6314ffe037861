import type { Authentication } from '@causeway/access';
import { ensureAdminToken, type TokenChoreContext } from './admin-token';
import type { Chore } from './store-maintenance';

/** What a leader does about the user tokens of its control plane. */
export function tokenChores(context: TokenChoreContext, tokens: Authentication['tokens']): readonly Chore[] {
  return [
    { failure: 'the admin token could not be written', run: () => ensureAdminToken(context, tokens) },
    { failure: 'expired user tokens could not be forgotten', run: () => tokens.purge() },
  ];
}
