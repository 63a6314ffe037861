import { upkeep, VERSION, type Foundations } from '@causeway/control-plane';
import { createZoneLoops, LoopRunner } from '@causeway/controllers';
import type { SettingValues, Term } from '@causeway/runtime';
import { createZoneSync } from '@causeway/sync-kds';
import type { zoneSettings } from './config';
import type { GlobalAddress } from './global-address';

/** One term as the zone's leader, and whom to speak to in it. */
export interface Lead {
  readonly term: Term;
  readonly settings: SettingValues<typeof zoneSettings>;
  readonly global: GlobalAddress | undefined;
}

/** What a zone's leader does for a term: the control loops, the session with the global, upkeep of the store. */
export async function lead(foundations: Foundations, { term, settings, global }: Lead): Promise<void> {
  const { store, index, clock, logger } = foundations;
  const loops = createZoneLoops({
    cp: foundations.cp,
    ranges: {
      MeshService: settings.CAUSEWAY_VIP_RANGE_MESHSERVICE,
      MeshExternalService: settings.CAUSEWAY_VIP_RANGE_MESHEXTERNALSERVICE,
      MeshMultiZoneService: settings.CAUSEWAY_VIP_RANGE_MESHMULTIZONESERVICE,
    },
    rest: settings.CAUSEWAY_VIP_REST,
    grace: settings.CAUSEWAY_SERVICE_GRACE,
  });
  const runner = new LoopRunner(loops, { store, index, clock, logger, term });
  const sync =
    global && createZoneSync({ ...foundations, ...global, zone: settings.CAUSEWAY_ZONE_NAME, term, version: VERSION });
  await Promise.all([runner.run(), sync?.run(), upkeep(foundations, term)]);
}
