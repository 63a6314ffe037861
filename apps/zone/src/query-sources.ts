import type { SharedQuerySources } from '@causeway/control-plane';
import type { DnsServer } from '@causeway/dns';
import type { QuerySources } from '@causeway/queries';
import type { ZoneLeader } from './zone-leader.module';

/** What a zone answers from: besides what all control planes have, its DNS and the session with its global. */
export function zoneQuerySources(shared: SharedQuerySources, leader: ZoneLeader, dns: DnsServer): QuerySources {
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
