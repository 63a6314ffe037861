import { AccessPolicy, CircuitBreakerPolicy, LoadBalancingPolicy, RateLimitPolicy } from '@causeway/policies';
import { identityKey, type Identity, type JsonObject } from '@causeway/resources';
import type { Destination } from '../model/destination';
import type { BackendRules } from './cluster-rules';
import type { InboundLimit } from './rate-limits';

/** One port of a service in the form that policies use. */
export interface BackendPort {
  readonly service: Identity;
  readonly port: number;
}

/** The effective policies of one port of a service, by kind; undefined if there is none. */
export interface EffectiveBackends {
  effectiveOfBackend(kind: string, of: BackendPort): { readonly spec: JsonObject } | undefined;
}

/** The kinds that callers of a service apply. */
export const callersKinds: ReadonlySet<string> = new Set([CircuitBreakerPolicy.kind, LoadBalancingPolicy.kind]);
export const serversKinds: ReadonlySet<string> = new Set([AccessPolicy.kind, RateLimitPolicy.kind]);

/** Reads the policies of one port of a service, by kind. Costs a look-up for each kind. */
export class BackendPolicies {
  constructor(private readonly table: EffectiveBackends) {}

  /** Returns the rules that the callers of a destination apply. */
  getRules({ service, port }: Pick<Destination, 'service' | 'port'>): BackendRules {
    const of = { service, port };
    const breaker = this.read(CircuitBreakerPolicy, of);
    const balancing = this.read(LoadBalancingPolicy, of);
    return { ...(breaker && { breaker }), ...(balancing && { balancing }) };
  }

  /** Returns the rate limits of an inbound that serves these ports of services; equal limits from several ports of one service count once. */
  limitsAt(backends: readonly BackendPort[]): readonly InboundLimit[] {
    const found = new Map<string, InboundLimit>();
    for (const of of backends) {
      const spec = this.read(RateLimitPolicy, of);
      if (spec) found.set(`${identityKey(of.service)} ${JSON.stringify(spec)}`, { service: of.service, spec });
    }
    return [...found.values()];
  }

  private read<Spec>(
    { kind, read }: { readonly kind: string; readonly read: (spec: JsonObject) => Spec | undefined },
    of: BackendPort,
  ): Spec | undefined {
    const effective = this.table.effectiveOfBackend(kind, of);
    return effective && read(effective.spec);
  }
}
