import type { JsonObject } from '@causeway/resources';
import type { TestGlobal, TestZone } from './sync-mesh';

/** The services of a zone's first life. */
const NAMES = ['a', 'b'];

/** Lets a zone join, the global receive its services `a` and `b`, and the zone go: its successor under the name may lack them. */
export async function liveAndLeave(zone: TestZone, global: TestGlobal, spec: JsonObject): Promise<void> {
  await zone.join(global);
  for (const name of NAMES) await zone.put('MeshService', name, spec);
  await global.until(() => global.names('MeshService').length === NAMES.length);
  await global.report(zone.zone, 'MeshService', 'up');
  await zone.leave();
  await global.left(zone.zone);
}
