import { evaluatePolicy } from '@causeway/policies';
import { identityKey } from '@causeway/resources';
import type { IndexReader } from '@causeway/store';
import type { ReportedResources } from '../progress/progress-reporter';
import { computeRank } from './policy-conditions';
import { policyRequirement, shippedKind } from './policy-requirement';
import { keysOfPolicies, type PolicyChangeSource } from './policy-source';

/** Returns the global's policies as a zone reports them: those of the kinds that proxies enforce. */
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
      // No proxy of this zone applies a policy that others beat everywhere here.
      return kind && evaluation && computeRank(evaluation) > 0 ? policyRequirement(kind, key, index) : undefined;
    },
  };
}
