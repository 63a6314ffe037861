import { Inject, Module, type DynamicModule, type OnApplicationShutdown } from '@nestjs/common';
import type { Admission } from '@causeway/admission';
import { HostnameExplainer } from '@causeway/controllers';
import type { JsonObject } from '@causeway/resources';
import type { RestDependencies, RestLimits } from '@causeway/rest';
import type { IndexReader } from '@causeway/store';
import { POSTGRES_BACKEND, type PostgresBackend } from '@causeway/store-postgres';
import { ADMISSION } from './admission.module';
import { CORE, type ControlPlaneCore, type ModuleImports } from './core.module';
import { INDEX } from './index.module';
import { namingInsights } from './naming-insights';
import { VERSION } from './version';

/** What the REST interface of every control plane answers from. */
export class SharedRestDependencies implements OnApplicationShutdown {
  private readonly explainer: HostnameExplainer;

  constructor(
    @Inject(CORE) private readonly core: ControlPlaneCore,
    @Inject(POSTGRES_BACKEND) private readonly backend: PostgresBackend,
    @Inject(INDEX) private readonly index: IndexReader,
    @Inject(ADMISSION) private readonly admission: Admission,
  ) {
    this.explainer = new HostnameExplainer(index, core.cp);
  }

  onApplicationShutdown(): void {
    this.explainer.close();
  }

  /** What a program adds its own parts to. */
  get(): RestDependencies {
    const { cp, registry, clock, logger, settings, instance, redacted } = this.core;
    const token = settings.CAUSEWAY_OPERATOR_TOKEN;
    return {
      ...{ cp, registry, clock, logger },
      store: this.backend.store,
      index: this.index,
      admission: this.admission,
      access: {
        bindAddress: settings.CAUSEWAY_BIND_ADDRESS,
        ...(token === undefined ? {} : { operatorToken: token }),
      },
      program: { version: VERSION, instanceId: instance, config: configDocument(redacted) },
      insights: namingInsights(this.core, this.explainer),
      limits: restLimits(settings),
    };
  }
}

/** What users are answered from: the index, admission, and the views that are made of them. */
@Module({})
export class QueriesModule {
  static forRoot({ imports }: ModuleImports): DynamicModule {
    return {
      module: QueriesModule,
      imports,
      providers: [SharedRestDependencies],
      exports: [SharedRestDependencies],
    };
  }
}

/** The bounds of REST that settings choose. */
export function restLimits(settings: ControlPlaneCore['settings']): Partial<RestLimits> {
  return {
    connections: settings.CAUSEWAY_REST_CONNECTIONS,
    connectionsPerClient: settings.CAUSEWAY_REST_CONNECTIONS_PER_CLIENT,
    allWatchBytes: settings.CAUSEWAY_WATCH_MEMORY_MIB * 1024 * 1024,
  };
}

/** The settings as JSON, for `/config`. */
function configDocument(redacted: Readonly<Record<string, unknown>>): JsonObject {
  return Object.fromEntries(Object.entries(redacted).map(([key, value]) => [key, String(value)]));
}
