import type { SharedQuerySources } from '@causeway/control-plane';
import type { ProxyDirectory } from '@causeway/controllers';
import type { DnsServer } from '@causeway/dns';
import { dataplaneInsight, type QuerySources } from '@causeway/queries';
import { identityKey } from '@causeway/resources';
import type { ZoneLeader } from './zone-leader.module';

/** What a zone answers from: besides what all control planes have, its DNS, its proxies and the session with its global. */
export function zoneQuerySources(
  shared: SharedQuerySources,
  leader: ZoneLeader,
  dns: DnsServer,
  proxies: ProxyDirectory,
): QuerySources {
  const base = shared.get();
  const { cp } = base;
  return {
    ...base,
    insights: {
      ...base.insights,
      dnsLookup: ({ name, type }) => dns.lookup(name, type),
      insightOf: (resource) => {
        if (resource.id.kind === 'Zone') return leader.insightOf(resource);
        const proxy = proxies.ofOwner(identityKey(resource.id));
        return proxy && dataplaneInsight(proxy);
      },
    },
    proxies,
    syncDecisions: cp.role === 'zone' && cp.federated ? { confirmGlobal: () => leader.confirmGlobal() } : {},
  };
}
