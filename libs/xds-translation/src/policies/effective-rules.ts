import type { FrontendGroup } from '@causeway/routing';
import { FaultPolicy, HeaderPolicy, RetryPolicy, TimeoutPolicy } from '@causeway/policies';
import type { Identity, JsonObject } from '@causeway/resources';
import type { RulePolicies } from './rule-policies';

/** One rule of a route at a port of a service, for the clients of a group; the implicit route if `route` is absent. */
export interface RuleTarget {
  readonly frontend: Identity;
  readonly port: number;
  readonly group: FrontendGroup;
  readonly route?: Identity;
  readonly rule?: string;
}

/** The effective policies of rules in the process's policy table. */
export interface EffectiveRules {
  /** A consumer group whose namespace has neither routes nor policies resolves to the producer group. */
  effectiveOfRule(kind: string, at: RuleTarget): { readonly spec: JsonObject } | undefined;
  /** Returns the namespaces whose own policies apply to their clients at a frontend. */
  listConsumers(frontend: Identity): readonly string[];
}

/** Returns the policies of a rule. A spec that its kind rejects, from an older or newer zone, is ignored. */
export function policiesAt(effective: EffectiveRules, at: RuleTarget): RulePolicies {
  const findSpec = <T>({ kind, read }: { kind: string; read: (spec: JsonObject) => T | undefined }): T | undefined => {
    const found = effective.effectiveOfRule(kind, at);
    return found && read(found.spec);
  };
  const [timeout, retry, fault, headers] = [
    findSpec(TimeoutPolicy),
    findSpec(RetryPolicy),
    findSpec(FaultPolicy),
    findSpec(HeaderPolicy),
  ];
  return { ...(timeout && { timeout }), ...(retry && { retry }), ...(fault && { fault }), ...(headers && { headers }) };
}
