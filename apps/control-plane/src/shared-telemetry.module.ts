import { Inject, Module, type DynamicModule } from '@nestjs/common';
import type { AuditRecorder } from '@causeway/access';
import type { IndexReader } from '@causeway/store';
import { POSTGRES_BACKEND, type PostgresBackend } from '@causeway/store-postgres';
import type { TelemetryOptions } from '@causeway/telemetry';
import { AUDIT_RECORDER } from './audit.module';
import { CORE, type ControlPlaneCore, type ModuleImports } from './core.module';
import { INDEX } from './index.module';
import { LeaderService } from './leader.module';
import { controlPlaneMetrics } from './metrics';
import { defaultsReadiness } from './store-maintenance';

/** What the diagnostics port of every control plane shows. */
export class SharedTelemetry {
  constructor(
    @Inject(CORE) private readonly core: ControlPlaneCore,
    @Inject(POSTGRES_BACKEND) private readonly backend: PostgresBackend,
    @Inject(INDEX) private readonly index: IndexReader,
    @Inject(LeaderService) private readonly leader: LeaderService,
    @Inject(AUDIT_RECORDER) private readonly recorder: AuditRecorder,
  ) {}

  /** What a program adds its own metrics to. */
  options(): TelemetryOptions {
    const { backend, index, leader, recorder } = this;
    const { registry, settings, logger, propagation, shutdown } = this.core;
    return {
      metrics: controlPlaneMetrics({ registry, index, backend, leader, recorder }),
      histograms: [propagation],
      notReady: defaultsReadiness({ store: backend.store, index, shutdown }),
      host: settings.CAUSEWAY_BIND_ADDRESS,
      port: settings.CAUSEWAY_DIAGNOSTICS_PORT,
      logger,
    };
  }
}

/** The part of telemetry that does not depend on the role of a control plane. */
@Module({})
export class SharedTelemetryModule {
  static forRoot({ imports }: ModuleImports): DynamicModule {
    return { module: SharedTelemetryModule, imports, providers: [SharedTelemetry], exports: [SharedTelemetry] };
  }
}
