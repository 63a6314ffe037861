import type { PolicyChangeSet, Policy } from '@causeway/policies';
import type { Identity } from '@causeway/resources';
import type { FollowedTable, IndexReader } from '@causeway/store';
import { isKeptFromSync } from '@causeway/sync';
import type { EffectiveKumaPolicies, EffectiveKumaPolicy, KumaRuleTarget } from './request-policies';

type PolicyPredicate = (policy: Policy) => boolean;

/** The policies of this replica, derived from the same index: a FollowedPolicies. */
export interface PoliciesSource extends FollowedTable<PolicyChangeSet> {
  readonly table: {
    effectiveOfRule(kind: string, at: KumaRuleTarget, isOfGlobal?: PolicyPredicate): EffectiveKumaPolicy | undefined;
    effectiveOfBackend(
      kind: string,
      at: { readonly service: Identity; readonly port: number },
      isOfGlobal?: PolicyPredicate,
    ): EffectiveKumaPolicy | undefined;
    listConsumers(frontend: Identity): readonly string[];
  };
}

/** Returns the effective policies that the global sends to zones: policies of a zone apply in that zone only. */
export function effectiveOfGlobal(table: PoliciesSource['table'], index: IndexReader): EffectiveKumaPolicies {
  const isOfGlobal = ({ id, key }: Policy): boolean => {
    const policy = index.byIdentityKey(key);
    return id.zone === '' && !(policy && isKeptFromSync(policy));
  };
  return {
    effectiveOfRule: (kind, at) => table.effectiveOfRule(kind, at, isOfGlobal),
    effectiveOfBackend: (kind, at) => table.effectiveOfBackend(kind, at, isOfGlobal),
    listConsumers: (frontend) => table.listConsumers(frontend),
  };
}
