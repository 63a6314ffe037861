import { HostnameExplainer } from '@causeway/controllers';
import type { Insights, SyncDecisions, ZoneAccess } from '@causeway/queries';
import { createRestServer, type RestLimits, type RestServer } from '@causeway/rest';
import { type SettingValues } from '@causeway/runtime';
import {
  createMetrics,
  serveDiagnostics,
  type Diagnostics,
  type HistogramMetric,
  type Metric,
} from '@causeway/telemetry';
import { exitOnError } from './load-config';
import { controlPlaneMetrics, watchMetrics } from './metrics';
import { namingInsights } from './naming-insights';
import { configDocument, type ControlPlaneCore } from './bootstrap';
import { VERSION } from './program-facts';
import type { sharedSettings } from './settings';

/** What a program shows besides what all do. */
export interface ListenerOptions {
  readonly settings: SettingValues<typeof sharedSettings>;
  readonly redacted: Readonly<Record<string, unknown>>;
  readonly insights: Insights;
  /** On a global only. */
  readonly zoneAccess?: ZoneAccess;
  readonly syncDecisions: SyncDecisions;
  readonly metrics: readonly Metric[];
  readonly histograms: readonly HistogramMetric[];
  /** Why the program does not serve yet, or undefined. */
  readonly notReady: () => string | undefined;
  /** What is stored and cannot be used, while the program serves without it. */
  readonly warnings?: () => readonly string[];
}

/** The open doors of a control plane. */
export interface OpenListeners {
  readonly rest: RestServer;
  readonly restPort: number;
  readonly diagnostics: Diagnostics;
  close(): Promise<void>;
}

/** The bounds of REST that settings choose. */
function restLimits(settings: ListenerOptions['settings']): Partial<RestLimits> {
  return {
    connections: settings.CAUSEWAY_REST_CONNECTIONS,
    connectionsPerClient: settings.CAUSEWAY_REST_CONNECTIONS_PER_CLIENT,
    allWatchBytes: settings.CAUSEWAY_WATCH_MEMORY_MIB * 1024 * 1024,
  };
}

/** Opens REST and diagnostics where the settings say; a taken port ends the program with one line. */
export async function openListeners(foundations: ControlPlaneCore, options: ListenerOptions): Promise<OpenListeners> {
  const { settings } = options;
  const host = settings.CAUSEWAY_BIND_ADDRESS;
  const opened: { rest?: RestServer } = {};
  const figures = [
    ...controlPlaneMetrics(foundations),
    ...watchMetrics(() => opened.rest?.watches()),
    ...options.metrics,
  ];
  const metrics = createMetrics(figures, options.histograms);
  const sources = { metrics, notReady: options.notReady, ...(options.warnings ? { warnings: options.warnings } : {}) };
  const diagnostics = await exitOnError(serveDiagnostics(sources, { host, port: settings.CAUSEWAY_DIAGNOSTICS_PORT }));
  const token = settings.CAUSEWAY_OPERATOR_TOKEN;
  const explainer = new HostnameExplainer(foundations.index, foundations.cp);
  const served = await createRestServer({
    ...foundations,
    access: { bindAddress: host, ...(token === undefined ? {} : { operatorToken: token }) },
    program: { version: VERSION, instanceId: foundations.instance, config: configDocument(options.redacted) },
    insights: { ...namingInsights(foundations, explainer), ...options.insights },
    syncDecisions: options.syncDecisions,
    ...(options.zoneAccess ? { zoneAccess: options.zoneAccess } : {}),
    limits: restLimits(settings),
  });
  opened.rest = served;
  const restPort = await exitOnError(served.listen(host, settings.CAUSEWAY_REST_PORT));
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
