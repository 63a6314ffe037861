import { Module, type DynamicModule, type ModuleMetadata } from '@nestjs/common';
import type { ControlPlane, Registry } from '@causeway/resources';
import { injectionToken, provideFrom, type Clock, type Logger } from '@causeway/runtime';
import type { ResourceIndex } from '@causeway/store';
import type { HistogramMetric, ProgramTracer } from '@causeway/telemetry';
import type { GrpcRequests, RestRequests } from './metrics/request-metrics';
import type { SharedSettings } from './settings/settings';
import type { SettingsReload } from './settings/settings-reload';

/** Modules whose providers a dynamic module uses: no module here is global. */
export type ModuleImports = Required<Pick<ModuleMetadata, 'imports'>>;

/** Values for every part of a control plane, unchanged from start to end. */
export interface ControlPlaneCore<S extends SharedSettings = SharedSettings> {
  /** Role of this control plane: the global, or a zone. */
  readonly cp: ControlPlane;
  readonly settings: S;
  /** The settings with secrets replaced, for logs and for `/config`. */
  readonly redacted: Readonly<Record<string, unknown>>;
  /** Changes of settings while the program runs. */
  readonly reload: Pick<SettingsReload<S>, 'on' | 'onCheck'>;
  /** Built-in kinds, and those that definitions in `index` declare at the moment. */
  readonly registry: Registry;
  /** In-memory state of the store; IndexModule fills it. */
  readonly index: ResourceIndex;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Propagation times: sync records them, the diagnostics port exposes them. */
  readonly propagation: HistogramMetric;
  /** Metrics of REST requests, for the diagnostics port. */
  readonly requests: RestRequests;
  /** Metrics of gRPC calls, for the diagnostics port. */
  readonly calls: GrpcRequests;
  /** Exporter of spans; discards them unless a receiver is configured. */
  readonly tracer: ProgramTracer;
  /** Name of this replica for people; new at each start. */
  readonly instance: string;
  /** Aborts when the program shuts down: ends every wait during a start, and a leader's term. */
  readonly shutdown: AbortSignal;
}

/** The `ControlPlaneCore` of the program. */
export const CORE = injectionToken<ControlPlaneCore>('ControlPlaneCore');

/** Provides the values on which all other modules depend. */
@Module({})
export class CoreModule {
  static forRoot(core: ControlPlaneCore): DynamicModule {
    return { module: CoreModule, providers: [provideFrom(CORE, {}, () => core)], exports: [CORE] };
  }
}
