import { awaitDefaults, layFoundations, propagationSeconds, serve, VERSION } from '@causeway/control-plane';
import { createGlobalSync } from '@causeway/kds';
import { certificateSource } from './certificates';
import { globalConfig, intakeSettings } from './config';
import { globalFigures } from './figures';
import { lead } from './lead';
import { secureZones } from './zone-security';

/** Runs a global control plane until it is told to end. */
async function main(): Promise<void> {
  const { values: settings, shown, ignored } = globalConfig();
  const certificates = certificateSource(settings);
  const foundations = await layFoundations({ cp: { role: 'global' }, settings, shown, ignored });
  const { logger, life, election } = foundations;
  const security = await secureZones(foundations, { settings, certificates });
  const propagation = propagationSeconds();
  const sync = createGlobalSync({
    ...foundations,
    sessions: foundations.state.sessions,
    version: VERSION,
    auth: security.auth,
    exportDefault: settings.CAUSEWAY_EXPORT_DEFAULT,
    hold: settings.CAUSEWAY_ABSENCE_HOLD,
    intake: intakeSettings(settings),
    upkeep: foundations.state.store,
    connections: {
      all: settings.CAUSEWAY_KDS_MAX_CONNECTIONS,
      address: settings.CAUSEWAY_KDS_MAX_CONNECTIONS_PER_ADDRESS,
    },
    propagated: (kind, age) => propagation.observe({ kind }, age / 1_000),
  });
  const kds = await security.bind(sync);
  const served = await serve(foundations, {
    settings,
    shown,
    insights: {
      insightOf: (resource) => sync.insightOf(resource),
      deletionWarnings: (id) => security.deletionWarnings(id),
    },
    zoneAccess: security.zoneAccess,
    syncDecisions: {
      confirmZone: (zone) => sync.confirm(zone),
      adoptZone: (zone, storeId) => sync.adopt(zone, storeId),
      resetEpoch: (zone) => sync.resetEpoch(zone),
    },
    figures: globalFigures(sync, foundations.clock),
    distributions: [propagation],
    notReady: awaitDefaults(foundations),
    warnings: () => security.warnings(),
  });
  logger.info('serving zones', { kds, tls: settings.CAUSEWAY_KDS_TLS, auth: settings.CAUSEWAY_KDS_AUTH });
  await election.run((term) => lead(foundations, settings, term), life.signal);
  await served.close();
  await sync.close();
  security.close();
  await foundations.close();
  logger.info('ended');
}

void main();
