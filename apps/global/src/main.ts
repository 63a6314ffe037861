import { awaitDefaults, layFoundations, upkeep, orFail, serve, VERSION } from '@causeway/control-plane';
import { admitEverybody, createGlobalSync } from '@causeway/sync-kds';
import { globalConfig } from './config';
import { syncFigures } from './figures';

/** Runs a global control plane until it is told to end. */
async function main(): Promise<void> {
  const { values: settings, shown } = globalConfig();
  const foundations = await layFoundations({ cp: { role: 'global' }, settings, shown });
  const { logger, life, election } = foundations;
  const sync = createGlobalSync({
    ...foundations,
    sessions: foundations.state.sessions,
    version: VERSION,
    auth: admitEverybody,
    hold: settings.CAUSEWAY_ABSENCE_HOLD,
    upkeep: foundations.state.store,
  });
  const kdsHost =
    settings.CAUSEWAY_KDS_BIND_ADDRESS ?? (settings.CAUSEWAY_KDS_AUTH === 'token' ? '0.0.0.0' : '127.0.0.1');
  const kdsPort = await orFail(sync.bind(kdsHost, settings.CAUSEWAY_KDS_PORT));
  const served = await serve(foundations, {
    settings,
    shown,
    insights: { insightOf: (resource) => sync.insightOf(resource) },
    figures: syncFigures(sync, foundations.clock),
    notReady: awaitDefaults(foundations),
  });
  logger.info('serving zones', { kds: `${kdsHost}:${kdsPort}` });
  await election.run((term) => upkeep(foundations, term), life.signal);
  await served.close();
  await sync.close();
  await foundations.close();
  logger.info('ended');
}

void main();
