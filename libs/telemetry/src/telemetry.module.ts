import {
  ConfigurableModuleBuilder,
  Inject,
  Module,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import type { Logger } from '@causeway/runtime';
import { serveDiagnostics, type Diagnostics, type DiagnosticsSources } from './diagnostics';
import { createMetrics, type HistogramMetric, type Metric } from './metrics';

/** What a program shows at its diagnostics port, and where that is. */
export interface TelemetryOptions extends Omit<DiagnosticsSources, 'metrics'> {
  readonly metrics: readonly Metric[];
  readonly histograms: readonly HistogramMetric[];
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  readonly logger: Logger;
}

const { ConfigurableModuleClass, MODULE_OPTIONS_TOKEN } = new ConfigurableModuleBuilder<TelemetryOptions>()
  .setClassMethodName('forRoot')
  .build();

/** The diagnostics port: open from bootstrap until the application begins to end. */
class DiagnosticsListener implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private diagnostics: Diagnostics | undefined;

  constructor(@Inject(MODULE_OPTIONS_TOKEN) private readonly options: TelemetryOptions) {}

  async onApplicationBootstrap(): Promise<void> {
    const { metrics, histograms, host, port, logger, ...sources } = this.options;
    const registry = createMetrics(metrics, histograms);
    this.diagnostics = await serveDiagnostics({ ...sources, metrics: registry }, { host, port });
    logger.info('diagnostics', { diagnostics: `http://${host}:${this.diagnostics.port}` });
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.diagnostics?.close();
  }
}

/** `/healthy`, `/ready` and `/metrics` of a program. */
@Module({ providers: [DiagnosticsListener] })
export class TelemetryModule extends ConfigurableModuleClass {}
