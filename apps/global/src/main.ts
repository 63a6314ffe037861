import { defaultsReadiness, bootstrap, propagationSeconds, openListeners, VERSION } from '@causeway/control-plane';
import { createGlobalSync } from '@causeway/kds';
import { certificateSource } from './certificates';
import { globalConfig, inboundLimits } from './config';
import { globalMetrics } from './metrics';
import { runLeaderTerm } from './leader-term';
import { secureZones } from './zone-security';

/** Runs a global control plane until it is told to end. */
async function main(): Promise<void> {
  const { values: settings, redacted: shown, unknownVariables: ignored } = globalConfig();
  const certificates = certificateSource(settings);
  const foundations = await bootstrap({ cp: { role: 'global' }, settings, redacted: shown, unknownVariables: ignored });
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
    inbound: inboundLimits(settings),
    maintenance: foundations.state.store,
    connections: {
      all: settings.CAUSEWAY_KDS_MAX_CONNECTIONS,
      address: settings.CAUSEWAY_KDS_MAX_CONNECTIONS_PER_ADDRESS,
    },
    onPropagated: (kind, age) => propagation.observe({ kind }, age / 1_000),
  });
  const kds = await security.bind(sync);
  const served = await openListeners(foundations, {
    settings,
    redacted: shown,
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
    metrics: globalMetrics(sync, foundations.clock),
    histograms: [propagation],
    notReady: defaultsReadiness(foundations),
    warnings: () => security.warnings(),
  });
  logger.info('serving zones', { kds, tls: settings.CAUSEWAY_KDS_TLS, auth: settings.CAUSEWAY_KDS_AUTH });
  await election.run((term) => runLeaderTerm(foundations, settings, term), life.signal);
  await served.close();
  await sync.close();
  security.close();
  await foundations.close();
  logger.info('ended');
}

void main();
