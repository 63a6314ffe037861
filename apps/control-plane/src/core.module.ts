import { Module, type DynamicModule, type ModuleMetadata } from '@nestjs/common';
import type { ControlPlane, Registry } from '@causeway/resources';
import { injectionToken, provideFrom, type Clock, type Logger } from '@causeway/runtime';
import type { ResourceIndex } from '@causeway/store';
import type { HistogramMetric, ProgramTracer } from '@causeway/telemetry';
import type { GrpcRequests, RestRequests } from './metrics/request-metrics';
import type { SharedSettings } from './settings/settings';
import type { SettingsReload } from './settings/settings-reload';

/** The modules whose providers a dynamic module uses: no module is global here. */
export type ModuleImports = Required<Pick<ModuleMetadata, 'imports'>>;

/** Facts for every part of a control plane, unchanged from start to end. */
export interface ControlPlaneCore<S extends SharedSettings = SharedSettings> {
  /** Which control plane this is: the global, or a zone's. */
  readonly cp: ControlPlane;
  readonly settings: S;
  /** The settings with secrets replaced, for logs and for `/config`. */
  readonly redacted: Readonly<Record<string, unknown>>;
  /** Changes of settings while the program runs. */
  readonly reload: Pick<SettingsReload<S>, 'on' | 'onCheck'>;
  /** The kinds of the product and those that definitions in `index` declare at each moment. */
  readonly registry: Registry;
  /** The state of the store in memory; IndexModule fills it. */
  readonly index: ResourceIndex;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Times of propagation: sync feeds it, the diagnostics port shows it. */
  readonly propagation: HistogramMetric;
  /** Metrics of REST requests, for the diagnostics port. */
  readonly requests: RestRequests;
  /** Metrics of gRPC calls, for the diagnostics port. */
  readonly calls: GrpcRequests;
  /** Exporter of spans; discards them unless the settings name a receiver. */
  readonly tracer: ProgramTracer;
  /** Name of this replica, for people to read; new at each start. */
  readonly instance: string;
  /** Aborts when the program is to end: it ends every wait of a start, and the term of a leader. */
  readonly shutdown: AbortSignal;
}

/** The `ControlPlaneCore` of the program. */
export const CORE = injectionToken<ControlPlaneCore>('ControlPlaneCore');

/** Facts that all other modules build on. */
@Module({})
export class CoreModule {
  static forRoot(core: ControlPlaneCore): DynamicModule {
    return { module: CoreModule, providers: [provideFrom(CORE, {}, () => core)], exports: [CORE] };
  }
}
