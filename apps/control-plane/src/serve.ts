import { HostnameExplainer } from '@causeway/controllers';
import {
  createRestServer,
  type Insights,
  type RestLimits,
  type RestServer,
  type SyncDecisions,
  type ZoneAccess,
} from '@causeway/rest';
import { type SettingValues } from '@causeway/runtime';
import { createMetrics, serveDiagnostics, type Diagnostics, type Distribution, type Figure } from '@causeway/telemetry';
import { orFail } from './configure';
import { foundationFigures, watchFigures } from './figures';
import { namingInsights } from './naming-insights';
import { shownConfig, type Foundations } from './foundations';
import { VERSION } from './program-facts';
import type { sharedSettings } from './settings';

/** What a program shows besides what all do. */
export interface ServeOptions {
  readonly settings: SettingValues<typeof sharedSettings>;
  readonly shown: Readonly<Record<string, unknown>>;
  readonly insights: Insights;
  /** On a global only. */
  readonly zoneAccess?: ZoneAccess;
  readonly syncDecisions: SyncDecisions;
  readonly figures: readonly Figure[];
  readonly distributions: readonly Distribution[];
  /** Why the program does not serve yet, or undefined. */
  readonly notReady: () => string | undefined;
  /** What is stored and cannot be used, while the program serves without it. */
  readonly warnings?: () => readonly string[];
}

/** The open doors of a control plane. */
export interface Served {
  readonly rest: RestServer;
  readonly restPort: number;
  readonly diagnostics: Diagnostics;
  close(): Promise<void>;
}

/** The bounds of REST that settings choose. */
function restLimits(settings: ServeOptions['settings']): Partial<RestLimits> {
  return {
    connections: settings.CAUSEWAY_REST_CONNECTIONS,
    connectionsPerClient: settings.CAUSEWAY_REST_CONNECTIONS_PER_CLIENT,
    allWatchBytes: settings.CAUSEWAY_WATCH_MEMORY_MIB * 1024 * 1024,
  };
}

/** Opens REST and diagnostics where the settings say; a taken port ends the program with one line. */
export async function serve(foundations: Foundations, options: ServeOptions): Promise<Served> {
  const { settings } = options;
  const host = settings.CAUSEWAY_BIND_ADDRESS;
  const opened: { rest?: RestServer } = {};
  const figures = [
    ...foundationFigures(foundations),
    ...watchFigures(() => opened.rest?.watches()),
    ...options.figures,
  ];
  const metrics = createMetrics(figures, options.distributions);
  const sources = { metrics, notReady: options.notReady, ...(options.warnings ? { warnings: options.warnings } : {}) };
  const diagnostics = await orFail(serveDiagnostics(sources, { host, port: settings.CAUSEWAY_DIAGNOSTICS_PORT }));
  const token = settings.CAUSEWAY_OPERATOR_TOKEN;
  const explainer = new HostnameExplainer(foundations.index, foundations.cp);
  const served = await createRestServer({
    ...foundations,
    access: { bindAddress: host, ...(token === undefined ? {} : { operatorToken: token }) },
    program: { version: VERSION, instanceId: foundations.instance, config: shownConfig(options.shown) },
    insights: { ...namingInsights(foundations, explainer), ...options.insights },
    syncDecisions: options.syncDecisions,
    ...(options.zoneAccess ? { zoneAccess: options.zoneAccess } : {}),
    limits: restLimits(settings),
  });
  opened.rest = served;
  const restPort = await orFail(served.listen(host, settings.CAUSEWAY_REST_PORT));
  foundations.logger.info('listening', {
    rest: `http://${host}:${restPort}`,
    diagnostics: `http://${host}:${diagnostics.port}`,
  });
  return {
    rest: served,
    restPort,
    diagnostics,
    close: async () => {
      await served.close();
      explainer.close();
      await diagnostics.close();
    },
  };
}
