import { Module, type DynamicModule } from '@nestjs/common';
import type { Meshes } from '@causeway/meshes';
import { provideFrom } from '@causeway/runtime';
import { POSTGRES_BACKEND } from '@causeway/store-postgres';
import type { TelemetryOptions } from '@causeway/telemetry';
import { AUTHENTICATION } from '../api/authentication.module';
import { AUDIT_RECORDER } from '../api/audit.module';
import { CORE, type ControlPlaneCore, type ModuleImports } from '../core.module';
import { INDEX, MESHES } from '../state/index.module';
import { LeaderService } from '../leader/leader.module';
import { controlPlaneMetrics, type MetricSources } from './metrics';
import { GrpcCertificates, RestCertificates, type PortCertificates } from '../certificates/certificates.module';
import type { Listener } from './end-metrics';
import { defaultsReadiness } from '../leader/store-maintenance';
import { storeImpediments } from '../state/impediments';

/** Metrics and checks of the diagnostics port of every control plane. */
export class SharedTelemetry {
  constructor(
    private readonly core: ControlPlaneCore,
    private readonly sources: Omit<MetricSources, 'registry' | 'role' | 'requests' | 'calls' | 'tracer'>,
    private readonly certificates: readonly Pick<PortCertificates, 'warnings' | 'name' | 'certificates'>[],
  ) {}

  /** Returns the listeners of every control plane. */
  listeners(): readonly Listener[] {
    return this.certificates;
  }

  /** Returns the shared options, to which a program adds its own metrics. */
  options(): TelemetryOptions {
    const { backend, index, leader } = this.sources;
    const { cp, registry, settings, logger, propagation, requests, calls, tracer, shutdown } = this.core;
    return {
      metrics: controlPlaneMetrics({ role: cp.role, registry, requests, calls, tracer, ...this.sources }),
      histograms: [propagation, requests.seconds, calls.seconds],
      warnings: () => [...this.certificates.flatMap((each) => each.warnings()), ...meshWarnings(this.sources.meshes)],
      impediments: () => storeImpediments({ backend, leader, leaseMs: settings.CAUSEWAY_LEADER_LEASE }),
      notReady: defaultsReadiness({ store: backend.store, index, shutdown }),
      host: settings.CAUSEWAY_BIND_ADDRESS,
      port: settings.CAUSEWAY_DIAGNOSTICS_PORT,
      logger,
    };
  }
}

const provider = provideFrom(
  SharedTelemetry,
  {
    core: CORE,
    backend: POSTGRES_BACKEND,
    index: INDEX,
    meshes: MESHES,
    leader: LeaderService,
    recorder: AUDIT_RECORDER,
    authentication: AUTHENTICATION,
    rest: RestCertificates,
    grpc: GrpcCertificates,
  },
  ({ core, rest, grpc, ...sources }) => new SharedTelemetry(core, sources, [rest, grpc]),
);

/** The part of telemetry that does not depend on the role of a control plane. */
@Module({})
export class SharedTelemetryModule {
  static forRoot({ imports }: ModuleImports): DynamicModule {
    return { module: SharedTelemetryModule, imports, providers: [provider], exports: [SharedTelemetry] };
  }
}

function meshWarnings(meshes: Meshes): readonly string[] {
  const mismatch = meshes.mismatch();
  if (!mismatch) return [];
  const { name, controllerName, ownName } = mismatch;
  return [`the Mesh "${name}" has the controller "${controllerName}", this is "${ownName}": its members have defaults`];
}
