import type { SharedRestDependencies } from '@causeway/control-plane';
import type { GlobalSync } from '@causeway/kds';
import type { RestDependencies } from '@causeway/rest';
import type { ZoneSecurity } from './zone-security.module';

/** What REST answers from on a global: besides what all control planes have, its zones. */
export function globalRest(shared: SharedRestDependencies, sync: GlobalSync, security: ZoneSecurity): RestDependencies {
  const base = shared.get();
  return {
    ...base,
    insights: {
      ...base.insights,
      insightOf: (resource) => sync.insightOf(resource),
      deletionWarnings: (id) => security.deletionWarnings(id),
    },
    zoneAccess: security.zoneAccess(),
    syncDecisions: {
      confirmZone: (zone) => sync.confirm(zone),
      adoptZone: (zone, storeId) => sync.adopt(zone, storeId),
      resetEpoch: (zone) => sync.resetEpoch(zone),
    },
  };
}
