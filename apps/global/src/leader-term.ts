import type { AccessPolicy } from '@causeway/access';
import { maintainStore, type ControlPlaneCore, type LeaderTermFactory } from '@causeway/control-plane';
import { createConditionsReconciler, runLoops } from '@causeway/controllers';
import { createZoneLifecycleLoop, unsupportedByKuma } from '@causeway/kds';
import type { IndexReader } from '@causeway/store';
import type { PostgresBackend } from '@causeway/store-postgres';
import type { GlobalSettings } from './config';

/** What the global's leader does for a term: defaults, maintenance of the store, lost and deleted zones, conditions. */
export function leaderTermFactory(
  core: ControlPlaneCore<GlobalSettings>,
): (backend: PostgresBackend, index: IndexReader, rights: AccessPolicy) => LeaderTermFactory {
  const { settings } = core;
  const lost = { policy: settings.CAUSEWAY_LOST_ZONE_POLICY, after: settings.CAUSEWAY_LOST_ZONE_AFTER };
  return (backend, index, rights) => (term) => {
    const context = { ...core, store: backend.store, index, term };
    const zones = createZoneLifecycleLoop({ ...context, sessions: backend.sessions, lost, rights });
    const conditions = createConditionsReconciler({ ...context, unsupportedByKuma: unsupportedByKuma() });
    return {
      run: async () => {
        await Promise.all([maintainStore(core, backend, term), zones.run(), runLoops([conditions], context)]);
      },
    };
  };
}
