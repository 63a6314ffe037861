import type { SharedQuerySources } from '@causeway/control-plane';
import { storedInsight, type GlobalSync } from '@causeway/kds';
import type { QuerySources } from '@causeway/queries';
import type { ZoneSecurity } from './zone-security.module';

/** Returns the query sources of a global: the shared ones, and its zones. */
export function globalQuerySources(shared: SharedQuerySources, sync: GlobalSync, security: ZoneSecurity): QuerySources {
  const base = shared.get();
  return {
    ...base,
    insights: {
      ...base.insights,
      insightOf: (resource) => storedInsight(base.index, resource) ?? sync.findInsight(resource),
      deletionWarnings: (id) => [...(base.insights?.deletionWarnings?.(id) ?? []), ...security.deletionWarnings(id)],
      keyFaults: () => [...(base.insights?.keyFaults?.() ?? []), ...security.warnings()],
    },
    zoneAccess: security.zoneAccess(),
    syncDecisions: {
      confirmZone: (zone) => sync.confirm(zone),
      adoptZone: (zone, storeId) => sync.adopt(zone, storeId),
      resetEpoch: (zone) => sync.resetEpoch(zone),
    },
  };
}
