import type { FrontendGroup } from '@causeway/routing';
import { FaultPolicy, HeaderPolicy, RetryPolicy, TimeoutPolicy } from '@causeway/policies';
import type { Identity, JsonObject } from '@causeway/resources';
import type { RulePolicies } from './rule-policies';

/** One rule of a route at a port of a service, for the clients of a group; the implicit route where `route` is absent. */
export interface RuleTarget {
  readonly frontend: Identity;
  readonly port: number;
  readonly group: FrontendGroup;
  readonly route?: Identity;
  readonly rule?: string;
}

/** The effective policies of rules, as the table of policies of the process has them. */
export interface EffectiveRules {
  /** A consumer's group in which neither routes nor policies of its namespace count is the producer's. */
  effectiveOfRule(kind: string, at: RuleTarget): { readonly spec: JsonObject } | undefined;
  /** The namespaces for whose clients alone policies of their own count at a frontend. */
  listConsumers(frontend: Identity): readonly string[];
}

/** What policies say of a rule. A spec that its kind does not know, of an older or newer zone, says nothing. */
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
