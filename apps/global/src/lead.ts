import { upkeep, type Foundations } from '@causeway/control-plane';
import { ConditionsLoop, runLoops } from '@causeway/controllers';
import type { Term } from '@causeway/runtime';
import { createZoneKeeper, kumaFaults } from '@causeway/kds';
import type { GlobalSettings } from './config';

/** What the global's leader does for a term: defaults and upkeep of the store, lost and deleted zones, conditions. */
export async function lead(foundations: Foundations, settings: GlobalSettings, term: Term): Promise<void> {
  const lost = { policy: settings.CAUSEWAY_LOST_ZONE_POLICY, after: settings.CAUSEWAY_LOST_ZONE_AFTER };
  const keeper = createZoneKeeper({ ...foundations, sessions: foundations.state.sessions, term, lost });
  const loops = runLoops([new ConditionsLoop({ ...foundations, kumaFault: kumaFaults() })], { ...foundations, term });
  await Promise.all([upkeep(foundations, term), keeper.run(), loops]);
}
