import { SharedQuerySources } from '@causeway/control-plane';
import { GLOBAL_SYNC, findStoredInsight } from '@causeway/kds';
import type { QuerySources } from '@causeway/queries';
import { injectFrom, type Provided } from '@causeway/runtime';
import { ZoneSecurity } from './zone-security.module';

const SOURCES = { shared: SharedQuerySources, sync: GLOBAL_SYNC, security: ZoneSecurity };

/** The query sources of a global: the shared ones, and its zones. */
export const globalQuerySources = injectFrom(SOURCES, querySources);

function querySources({ shared, sync, security }: Provided<typeof SOURCES>): QuerySources {
  const base = shared.get();
  return {
    ...base,
    insights: {
      ...base.insights,
      insightOf: (resource) => findStoredInsight(base.index, resource) ?? sync.findInsight(resource),
      deletionWarnings: (id) => [...(base.insights?.deletionWarnings?.(id) ?? []), ...security.deletionWarnings(id)],
      keyFaults: () => [...(base.insights?.keyFaults?.() ?? []), ...security.warnings()],
    },
    issuers: { ...base.issuers, zoneAccess: security.zoneAccess() },
    syncDecisions: {
      confirmZone: (zone) => sync.confirm(zone),
      adoptZone: (zone, storeId) => sync.adopt(zone, storeId),
      resetEpoch: (zone) => sync.resetEpoch(zone),
    },
  };
}
