import { awaitDefaults, layFoundations, serve } from '@causeway/control-plane';
import type { ControlPlane } from '@causeway/resources';
import { zoneConfig } from './config';
import { readGlobalAddress } from './global-address';
import { lead } from './lead';

/** Runs a zone's control plane until it is told to end. */
async function main(): Promise<void> {
  const { values: settings, shown } = zoneConfig();
  const global = readGlobalAddress(settings);
  const cp: ControlPlane = { role: 'zone', zone: settings.CAUSEWAY_ZONE_NAME, federated: global !== undefined };
  const foundations = await layFoundations({ cp, settings, shown });
  const served = await serve(foundations, {
    settings,
    shown,
    insights: {},
    figures: [],
    notReady: awaitDefaults(foundations),
  });
  await foundations.election.run((term) => lead(foundations, { term, settings, global }), foundations.life.signal);
  await served.close();
  await foundations.close();
  foundations.logger.info('ended');
}

void main();
