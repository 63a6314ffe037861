import type { Authentication } from '@causeway/access';
import type { Fence, ResourceStore } from '@causeway/store';
import { ensureAdminToken } from './admin-token';
import type { ControlPlaneCore } from './core.module';
import type { Chore } from './store-maintenance';

/** What the chores of tokens work with. */
export interface TokenChoreContext extends Pick<ControlPlaneCore, 'cp' | 'clock' | 'logger' | 'settings'> {
  readonly store: ResourceStore;
  /** The leader's right to write. */
  readonly term: Fence;
}

/** What a leader does about the user tokens of its control plane. */
export function tokenChores(context: TokenChoreContext, tokens: Authentication['tokens']): readonly Chore[] {
  return [
    { failure: 'the admin token could not be written', run: () => ensureAdminToken(context, tokens) },
    { failure: 'expired user tokens could not be forgotten', run: () => tokens.purge() },
  ];
}
