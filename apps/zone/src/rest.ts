import type { SharedRestDependencies } from '@causeway/control-plane';
import type { DnsServer } from '@causeway/dns';
import type { RestDependencies } from '@causeway/rest';
import type { ZoneLeader } from './zone-leader.module';

/** What REST answers from in a zone: besides what all control planes have, its DNS and the session with its global. */
export function zoneRest(shared: SharedRestDependencies, leader: ZoneLeader, dns: DnsServer): RestDependencies {
  const base = shared.get();
  const { cp } = base;
  return {
    ...base,
    insights: {
      ...base.insights,
      dnsLookup: ({ name, type }) => dns.lookup(name, type),
      insightOf: (resource) => leader.insightOf(resource),
    },
    syncDecisions: cp.role === 'zone' && cp.federated ? { confirmGlobal: () => leader.confirmGlobal() } : {},
  };
}
