import { keysOfTable, type KeySource } from '@causeway/loops';
import { evaluatePolicy, type PolicyChangeSet, type PolicyTable } from '@causeway/policies';
import { identityKey } from '@causeway/resources';
import type { FollowedTable, IndexReader } from '@causeway/store';
import type { ReportedResources } from '../progress/progress-reporter';
import { computeRank } from './policy-conditions';
import { policyRequirement, shippedKind } from './policy-requirement';

/** The policies of a process: the table, and what a change affects. */
export interface PolicyChangeSource extends FollowedTable<PolicyChangeSet> {
  readonly table: PolicyTable;
}

/** Announces the policies whose scopes, or effect in them, may have changed. */
export function keysOfPolicies(policies: FollowedTable<PolicyChangeSet>): KeySource {
  return keysOfTable(policies, (change) => change.policies);
}

/** Returns the global's policies that a zone reports: those of the kinds that proxies enforce. */
export function reportedPolicies(policies: PolicyChangeSource, index: IndexReader): ReportedResources {
  return {
    get kinds() {
      return [...policies.table.definitions].filter(shippedKind).map(({ kind }) => kind);
    },
    changes: keysOfPolicies(policies),
    mayBecomeUnsupported: true,
    findRequirement: ({ id }) => {
      const kind = policies.table.kind(id.kind);
      const key = identityKey(id);
      const evaluation = kind && evaluatePolicy(kind, key);
      // No proxy of this zone applies a policy that others override everywhere here.
      return kind && evaluation && computeRank(evaluation) > 0 ? policyRequirement(kind, key, index) : undefined;
    },
  };
}
