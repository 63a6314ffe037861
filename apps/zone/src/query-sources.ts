import type { DataplaneTokens } from '@causeway/access';
import type { SharedQuerySources } from '@causeway/control-plane';
import type { DnsServer } from '@causeway/dns';
import type { QuerySources } from '@causeway/queries';
import type { RotationOperation } from './workload-identity.module';
import type { ZoneLeader } from './zone-leader.module';

type ZoneQuerySources = [
  shared: SharedQuerySources,
  leader: ZoneLeader,
  dns: DnsServer,
  rotation: RotationOperation,
  dataplaneTokens: DataplaneTokens,
];

/** What a zone answers from: besides what all control planes have, its DNS, the session with its global, and who workloads are. */
export function zoneQuerySources(...sources: ZoneQuerySources): QuerySources {
  const [shared, leader, dns, rotation, dataplaneTokens] = sources;
  const base = shared.get();
  const { cp } = base;
  return {
    ...base,
    insights: {
      ...base.insights,
      dnsLookup: ({ name, type }) => dns.lookup(name, type),
      insightOf: (resource) => leader.insightOf(resource),
      deletionWarnings: (id) => [
        ...(base.insights?.deletionWarnings?.(id) ?? []),
        ...dataplaneTokens.deletionWarnings(id),
      ],
      keyFaults: () => [...(base.insights?.keyFaults?.() ?? []), ...dataplaneTokens.faults()],
    },
    dataplaneAccess: dataplaneTokens.tokens,
    authorityAccess: rotation,
    syncDecisions: cp.role === 'zone' && cp.federated ? { confirmGlobal: () => leader.confirmGlobal() } : {},
  };
}
