import type { PolicyChangeSet, PolicyTable } from '@causeway/policies';
import { keysOfTable, type ChangedKeySource } from '../progress/followed-keys';

/** The policies of a process: the table, and what a change affects. */
export interface PolicyChangeSource {
  readonly table: PolicyTable;
  readonly hasLoaded: boolean;
  subscribe(listener: (change: PolicyChangeSet | 'reloaded') => void): () => void;
}

/** Announces the policies whose scopes, or what holds there, may have changed. */
export function keysOfPolicies(policies: Pick<PolicyChangeSource, 'hasLoaded' | 'subscribe'>): ChangedKeySource {
  return keysOfTable(policies, (change) => change.policies);
}
