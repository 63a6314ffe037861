import { policyVerdict } from '@causeway/policies';
import { identityKey } from '@causeway/resources';
import type { IndexReader } from '@causeway/store';
import type { Reported } from '../progress/progress-reporter';
import { rankOf } from './policy-conditions';
import { policyDemand, shippedKind } from './policy-progress';
import type { PolicySource } from './policy-status-reconciler';

/** What a zone reports of the global's policies: of the kinds that proxies enforce. */
export function reportedPolicies(policies: PolicySource, index: IndexReader): Reported {
  const isReported = (kind: string): boolean => {
    const table = policies.table.kind(kind);
    return table !== undefined && shippedKind(table.definition) !== undefined;
  };
  return {
    get kinds() {
      return [...policies.table.definitions].filter(shippedKind).map(({ kind }) => kind);
    },
    get hasLoaded() {
      return policies.hasLoaded;
    },
    mayBeRefusedLater: true,
    subscribe: (listener) =>
      policies.subscribe((change) => {
        if (change === 'reloaded') listener('all');
        else listener(change.policies.filter((key) => isReported(key.slice(0, key.indexOf('/')))));
      }),
    asked: ({ id }) => {
      const kind = policies.table.kind(id.kind);
      const key = identityKey(id);
      const verdict = kind && policyVerdict(kind, key);
      // What is beaten everywhere here is nothing that a proxy of this zone could obey or not.
      return kind && verdict && rankOf(verdict) > 0 ? policyDemand(kind, key, index) : undefined;
    },
  };
}
