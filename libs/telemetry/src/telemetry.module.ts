import {
  ConfigurableModuleBuilder,
  Inject,
  Module,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { injectionToken, type Logger } from '@causeway/runtime';
import { serveDiagnostics, type Diagnostics, type DiagnosticsSources } from './diagnostics';
import { createMetrics, type HistogramMetric, type Metric } from './metrics';

/** Content and address of a program's diagnostics port. */
export interface TelemetryOptions extends Omit<DiagnosticsSources, 'metrics'> {
  readonly metrics: readonly Metric[];
  readonly histograms: readonly HistogramMetric[];
  readonly host: string;
  /** Port; 0 chooses a free one. */
  readonly port: number;
  readonly logger: Logger;
}

const OPTIONS = injectionToken<TelemetryOptions>('TelemetryOptions');

const { ConfigurableModuleClass } = new ConfigurableModuleBuilder<TelemetryOptions>({ optionsInjectionToken: OPTIONS })
  .setClassMethodName('forRoot')
  .build();

/** Diagnostics port, open from bootstrap until the application begins to shut down. */
class DiagnosticsListener implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private diagnostics: Diagnostics | undefined;

  constructor(
    @Inject(OPTIONS) private readonly options: TelemetryOptions,
    @Inject(HttpAdapterHost) private readonly host: HttpAdapterHost,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    const { metrics, histograms, host, port, logger, ...sources } = this.options;
    // Opens this port before the application's: a client that waits for `/ready` sends requests next.
    const notReady = (): string | undefined =>
      this.host.listening ? sources.notReady() : 'the application does not listen yet';
    const registry = createMetrics(metrics, histograms);
    this.diagnostics = await serveDiagnostics({ ...sources, notReady, metrics: registry }, { host, port });
    logger.info('diagnostics', { diagnostics: `http://${host}:${this.diagnostics.port}` });
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.diagnostics?.close();
  }
}

/** Provides `/healthy`, `/ready` and `/metrics` of a program. */
@Module({ providers: [DiagnosticsListener] })
export class TelemetryModule extends ConfigurableModuleClass {}
