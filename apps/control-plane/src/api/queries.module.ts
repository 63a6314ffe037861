import { Inject, Module, type DynamicModule, type OnApplicationShutdown } from '@nestjs/common';
import { HostnameExplainer, createQueries, type Queries, type QuerySources } from '@causeway/queries';
import type { JsonObject } from '@causeway/resources';
import { injectionToken, provideFrom, type Injection, type Provided } from '@causeway/runtime';
import { POSTGRES_BACKEND } from '@causeway/store-postgres';
import { AUTHENTICATION } from './authentication.module';
import { CORE, type ModuleImports } from '../core.module';
import { INDEX, MESHES } from '../state/index.module';
import { LeaderService } from '../leader/leader.module';
import { namingInsights } from './naming-insights';
import { POLICIES } from '../state/policies-follower';
import { storeImpediments } from '../state/impediments';
import { ROUTES } from '../state/routes-follower';
import { VERSION } from '../version';

/** The `Queries` of this replica, which all interfaces share. */
export const QUERIES = injectionToken<Queries>('Queries');

/** Dependencies of `SharedQuerySources`. */
const PARTS = {
  core: CORE,
  backend: POSTGRES_BACKEND,
  index: INDEX,
  authentication: AUTHENTICATION,
  meshes: MESHES,
  routes: ROUTES,
  policies: POLICIES,
  leader: LeaderService,
};

/** Sources of the queries of every control plane. */
export class SharedQuerySources implements OnApplicationShutdown {
  private readonly explainer: HostnameExplainer;

  constructor(private readonly parts: Provided<typeof PARTS>) {
    this.explainer = new HostnameExplainer(parts.index, parts.core.cp, parts.meshes);
  }

  onApplicationShutdown(): void {
    this.explainer.close();
  }

  /** Returns the shared sources, to which a program adds its own. */
  get(): QuerySources {
    const { core, backend, index, meshes, routes, policies, authentication, leader } = this.parts;
    const { cp, registry, clock, settings, instance, redacted } = core;
    return {
      cp,
      registry,
      clock,
      index,
      meshes,
      routes,
      policies,
      store: backend.store,
      audit: backend.audit,
      backup: backend.backup,
      program: { version: VERSION, instanceId: instance, config: configDocument(redacted) },
      issuers: { userAccess: authentication.tokens },
      insights: {
        ...namingInsights(core, this.explainer),
        deletionWarnings: (id) => authentication.deletionWarnings(id),
        keyFaults: () => authentication.faults(),
        leadership: () => leader.insight(),
        impediments: () =>
          Promise.resolve(storeImpediments({ backend, leader, leaseMs: settings.CAUSEWAY_LEADER_LEASE })),
      },
      limits: { allWatchBytes: settings.CAUSEWAY_WATCH_MEMORY_MIB * 1024 * 1024 },
    };
  }
}

/** Factory of a program's sources; it gets the shared ones under the token `SharedQuerySources`. */
export type QueriesModuleOptions = ModuleImports & Injection<QuerySources>;

const QUERY_SOURCES = injectionToken<QuerySources>('QuerySources');

/** Provides the queries of all interfaces: one object, so that interfaces share limits and caches. */
@Module({})
export class QueriesModule implements OnApplicationShutdown {
  constructor(@Inject(QUERIES) private readonly queries: Queries) {}

  static forRootAsync({ imports, inject, useFactory }: QueriesModuleOptions): DynamicModule {
    return {
      module: QueriesModule,
      imports,
      providers: [
        provideFrom(SharedQuerySources, PARTS, (parts) => new SharedQuerySources(parts)),
        { provide: QUERY_SOURCES, inject, useFactory },
        provideFrom(QUERIES, { sources: QUERY_SOURCES }, ({ sources }) => createQueries(sources)),
      ],
      exports: [QUERIES],
    };
  }

  /** Interfaces end their own watches; there are no more requests by now. */
  onApplicationShutdown(): void {
    this.queries.close();
  }
}

/** Returns the settings as JSON for `/config`. */
function configDocument(redacted: Readonly<Record<string, unknown>>): JsonObject {
  return Object.fromEntries(Object.entries(redacted).map(([key, value]) => [key, String(value)]));
}
