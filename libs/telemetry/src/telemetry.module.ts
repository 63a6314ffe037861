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

/** Content of a program's diagnostics port, and its address. */
export interface TelemetryOptions extends Omit<DiagnosticsSources, 'metrics'> {
  readonly metrics: readonly Metric[];
  readonly histograms: readonly HistogramMetric[];
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  readonly logger: Logger;
}

const OPTIONS = injectionToken<TelemetryOptions>('TelemetryOptions');

const { ConfigurableModuleClass } = new ConfigurableModuleBuilder<TelemetryOptions>({ optionsInjectionToken: OPTIONS })
  .setClassMethodName('forRoot')
  .build();

/** The diagnostics port: open from bootstrap until the application begins to end. */
class DiagnosticsListener implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private diagnostics: Diagnostics | undefined;

  constructor(
    @Inject(OPTIONS) private readonly options: TelemetryOptions,
    @Inject(HttpAdapterHost) private readonly host: HttpAdapterHost,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    const { metrics, histograms, host, port, logger, ...sources } = this.options;
    // This port opens before that of the application: who waits for `/ready` sends requests next.
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

/** `/healthy`, `/ready` and `/metrics` of a program. */
@Module({ providers: [DiagnosticsListener] })
export class TelemetryModule extends ConfigurableModuleClass {}
