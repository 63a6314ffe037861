import { Inject, Module, type DynamicModule, type FactoryProvider, type OnApplicationShutdown } from '@nestjs/common';
import type { Authentication } from '@causeway/access';
import { HostnameExplainer, createQueries, type Queries, type QuerySources } from '@causeway/queries';
import type { FollowedPolicies, FollowedRoutes, Meshes } from '@causeway/meshes';
import type { JsonObject } from '@causeway/resources';
import type { IndexReader } from '@causeway/store';
import { POSTGRES_BACKEND, type PostgresBackend } from '@causeway/store-postgres';
import { AUTHENTICATION } from './authentication.module';
import { CORE, type ControlPlaneCore, type ModuleImports } from './core.module';
import { INDEX, MESHES } from './index.module';
import { LeaderService } from './leader.module';
import { namingInsights } from './naming-insights';
import { POLICIES } from './policies-follower';
import { ROUTES } from './routes-follower';
import { VERSION } from './version';

/** The `Queries` of this replica: every interface answers from this one object. */
export const QUERIES = Symbol('Queries');

/** Dependencies of `SharedQuerySources`. */
interface SharedQueryParts {
  readonly core: ControlPlaneCore;
  readonly backend: PostgresBackend;
  readonly index: IndexReader;
  readonly authentication: Authentication;
  readonly meshes: Meshes;
  readonly routes: FollowedRoutes;
  readonly policies: FollowedPolicies;
  readonly leader: LeaderService;
}

type InjectedQueryParts = [
  core: ControlPlaneCore,
  backend: PostgresBackend,
  index: IndexReader,
  authentication: Authentication,
  meshes: Meshes,
  routes: FollowedRoutes,
  policies: FollowedPolicies,
  leader: LeaderService,
];

/** Sources of the queries of every control plane. */
export class SharedQuerySources implements OnApplicationShutdown {
  private readonly explainer: HostnameExplainer;

  constructor(private readonly parts: SharedQueryParts) {
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
      userAccess: authentication.tokens,
      insights: {
        ...namingInsights(core, this.explainer),
        deletionWarnings: (id) => authentication.deletionWarnings(id),
        keyFaults: () => authentication.faults(),
        leadership: () => leader.insight(),
      },
      limits: { allWatchBytes: settings.CAUSEWAY_WATCH_MEMORY_MIB * 1024 * 1024 },
    };
  }
}

/** Completes the sources: the factory gets SharedQuerySources and the providers that `inject` names. */
export interface QueriesModuleOptions extends ModuleImports {
  readonly inject: NonNullable<FactoryProvider['inject']>;
  readonly useFactory: FactoryProvider<QuerySources>['useFactory'];
}

const QUERY_SOURCES = Symbol('QuerySources');

/** Provides the queries of all interfaces: one object, so that interfaces share bounds and caches. */
@Module({})
export class QueriesModule implements OnApplicationShutdown {
  constructor(@Inject(QUERIES) private readonly queries: Queries) {}

  static forRootAsync({ imports, inject, useFactory }: QueriesModuleOptions): DynamicModule {
    return {
      module: QueriesModule,
      imports,
      providers: [
        {
          provide: SharedQuerySources,
          inject: [CORE, POSTGRES_BACKEND, INDEX, AUTHENTICATION, MESHES, ROUTES, POLICIES, LeaderService],
          useFactory: (
            ...[core, backend, index, authentication, meshes, routes, policies, leader]: InjectedQueryParts
          ) => new SharedQuerySources({ core, backend, index, authentication, meshes, routes, policies, leader }),
        },
        { provide: QUERY_SOURCES, inject: [SharedQuerySources, ...inject], useFactory },
        { provide: QUERIES, inject: [QUERY_SOURCES], useFactory: createQueries },
      ],
      exports: [QUERIES],
    };
  }

  /** Interfaces end the watches that they serve themselves; by now there are no more requests. */
  onApplicationShutdown(): void {
    this.queries.close();
  }
}

/** The settings as JSON, for `/config`. */
function configDocument(redacted: Readonly<Record<string, unknown>>): JsonObject {
  return Object.fromEntries(Object.entries(redacted).map(([key, value]) => [key, String(value)]));
}
