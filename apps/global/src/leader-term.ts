import { maintainStore, type ControlPlaneCore } from '@causeway/control-plane';
import { createConditionsReconciler, runLoops } from '@causeway/controllers';
import type { LeaderTerm } from '@causeway/runtime';
import { createZoneLifecycleLoop, unsupportedByKuma } from '@causeway/kds';
import type { GlobalSettings } from './config';

/** What the global's leader does for a term: defaults and upkeep of the store, lost and deleted zones, conditions. */
export async function runLeaderTerm(
  foundations: ControlPlaneCore,
  settings: GlobalSettings,
  term: LeaderTerm,
): Promise<void> {
  const lost = { policy: settings.CAUSEWAY_LOST_ZONE_POLICY, after: settings.CAUSEWAY_LOST_ZONE_AFTER };
  const keeper = createZoneLifecycleLoop({ ...foundations, sessions: foundations.state.sessions, term, lost });
  const loops = runLoops([createConditionsReconciler({ ...foundations, unsupportedByKuma: unsupportedByKuma() })], {
    ...foundations,
    term,
  });
  await Promise.all([maintainStore(foundations, term), keeper.run(), loops]);
}
