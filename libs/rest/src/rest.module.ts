import {
  ConfigurableModuleBuilder,
  Inject,
  Module,
  type BeforeApplicationShutdown,
  type NestModule,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { APP_FILTER, APP_GUARD, HttpAdapterHost } from '@nestjs/core';
import { AccessReviews, type Queries } from '@causeway/queries';
import type { FastifyInstance } from 'fastify';
import { ApplyController } from './controllers/apply.controller';
import { AuditController } from './controllers/audit.controller';
import { AccessReviewController } from './controllers/access-review.controller';
import { DiscoveryController } from './controllers/discovery.controller';
import { BackupController } from './controllers/backup.controller';
import { DocsController } from './controllers/docs.controller';
import { InspectionController } from './controllers/inspection.controller';
import { PoliciesController } from './controllers/policies.controller';
import { ProxiesController } from './controllers/proxies.controller';
import { ResourceController } from './controllers/resource.controller';
import { ResourceWriteController } from './controllers/resource-write.controller';
import { eventStreamEncoder } from './controllers/server-sent-events';
import { RoutesController } from './controllers/routes.controller';
import { ServerController } from './controllers/server.controller';
import { SyncDecisionsController } from './controllers/sync-decisions.controller';
import { TokensController } from './controllers/tokens.controller';
import { WorkloadIdentityController } from './controllers/workload-identity.controller';
import { WorkloadsController } from './controllers/workloads.controller';
import { ZoneAccessController } from './controllers/zone-access.controller';
import { AccessGuard } from './http/access.guard';
import { BatchBodies } from './http/batch-body';
import { BodyParser } from './http/body-parser';
import { LocalSocket } from './http/local-socket';
import { ProblemFilter } from './http/problem.filter';
import { RequestAudit } from './http/request-audit';
import { RequestCallers } from './http/request-callers';
import { RequestHooks } from './http/request-hooks';
import { RequestSignals } from './http/request-signals';
import { RouteTable } from './http/route-table';
import { openApiText } from './openapi/open-api-document';
import {
  DEFAULT_LIMITS,
  ADMISSION,
  AUTHORITY,
  EVENT_ENCODER,
  OPENAPI,
  QUERIES,
  REGISTRY,
  RUNTIME,
  type RestDependencies,
  type RestLimits,
  type RestRuntime,
} from './rest-dependencies';

const { ConfigurableModuleClass, MODULE_OPTIONS_TOKEN } = new ConfigurableModuleBuilder<RestDependencies>()
  .setClassMethodName('forRoot')
  .build();

function limitsOf({ limits }: RestDependencies): RestLimits {
  return { ...DEFAULT_LIMITS, ...limits };
}

/**
 * The REST interface of a control plane, for a Nest application over `restAdapter` with `REST_APPLICATION_OPTIONS`:
 * `RestModule.forRootAsync({ imports, inject, useFactory })`, where the factory gives RestDependencies.
 *
 * A request passes RequestHooks (request line, unknown paths) → AccessGuard → pipes → controller → ProblemFilter.
 */
@Module({
  // In the order in which routes are looked for: those of kinds last.
  controllers: [
    DocsController,
    ServerController,
    InspectionController,
    RoutesController,
    PoliciesController,
    AccessReviewController,
    ZoneAccessController,
    TokensController,
    WorkloadIdentityController,
    WorkloadsController,
    SyncDecisionsController,
    ApplyController,
    AuditController,
    BackupController,
    ProxiesController,
    DiscoveryController,
    ResourceController,
    ResourceWriteController,
  ],
  providers: [
    { provide: REGISTRY, inject: [MODULE_OPTIONS_TOKEN], useFactory: (deps: RestDependencies) => deps.registry },
    {
      provide: AccessReviews,
      inject: [MODULE_OPTIONS_TOKEN],
      useFactory: ({ registry, access }: RestDependencies) => new AccessReviews(registry, access.policy),
    },
    { provide: ADMISSION, inject: [MODULE_OPTIONS_TOKEN], useFactory: (deps: RestDependencies) => deps.admission },
    {
      provide: AUTHORITY,
      inject: [MODULE_OPTIONS_TOKEN],
      useFactory: ({ authority }: RestDependencies) => authority ?? (() => undefined),
    },
    { provide: QUERIES, inject: [MODULE_OPTIONS_TOKEN], useFactory: (deps: RestDependencies) => deps.queries },
    {
      provide: EVENT_ENCODER,
      inject: [QUERIES],
      useFactory: ({ json }: Queries) => eventStreamEncoder(json),
    },
    {
      provide: OPENAPI,
      inject: [MODULE_OPTIONS_TOKEN],
      useFactory: ({ registry, version }: RestDependencies) => openApiText(registry, version),
    },
    {
      provide: RequestCallers,
      inject: [MODULE_OPTIONS_TOKEN, LocalSocket],
      useFactory: ({ access, clock }: RestDependencies, local: LocalSocket) => new RequestCallers(access, local, clock),
    },
    {
      provide: LocalSocket,
      inject: [MODULE_OPTIONS_TOKEN, HttpAdapterHost],
      useFactory: (deps: RestDependencies, host: HttpAdapterHost) =>
        new LocalSocket(limitsOf(deps), () => host.httpAdapter.getInstance<FastifyInstance>()),
    },
    {
      provide: RequestSignals,
      inject: [MODULE_OPTIONS_TOKEN],
      useFactory: (deps: RestDependencies) => new RequestSignals(deps.clock, limitsOf(deps).requestTimeout),
    },
    {
      provide: BodyParser,
      inject: [MODULE_OPTIONS_TOKEN, RequestSignals],
      useFactory: (deps: RestDependencies, signals: RequestSignals) =>
        new BodyParser(limitsOf(deps), signals, deps.clock),
    },
    {
      provide: BatchBodies,
      inject: [BodyParser, MODULE_OPTIONS_TOKEN],
      useFactory: (parser: BodyParser, deps: RestDependencies) => new BatchBodies(parser, limitsOf(deps), deps.clock),
    },
    {
      provide: RUNTIME,
      inject: [MODULE_OPTIONS_TOKEN],
      useFactory: ({ clock, logger, recorder, registry }: RestDependencies): RestRuntime => {
        return { clock, logger, recorder, registry };
      },
    },
    {
      provide: RouteTable,
      inject: [MODULE_OPTIONS_TOKEN],
      useFactory: ({ registry }: RestDependencies) => new RouteTable(registry),
    },
    {
      provide: RequestHooks,
      inject: [RouteTable, RequestSignals, RequestAudit, MODULE_OPTIONS_TOKEN],
      useFactory: (
        routes: RouteTable,
        signals: RequestSignals,
        audit: RequestAudit,
        { clock, observe, tracer }: RestDependencies,
      ) => new RequestHooks({ routes, callers: audit.callers, signals, audit, clock, observe, tracer }),
    },
    {
      provide: RequestAudit,
      inject: [MODULE_OPTIONS_TOKEN, RequestCallers],
      useFactory: ({ recorder, registry }: RestDependencies, callers: RequestCallers) =>
        new RequestAudit(recorder, registry, callers),
    },
    {
      provide: APP_FILTER,
      inject: [MODULE_OPTIONS_TOKEN, RequestAudit],
      useFactory: ({ logger }: RestDependencies, audit: RequestAudit) => new ProblemFilter(logger, audit),
    },
    { provide: APP_GUARD, useClass: AccessGuard },
  ],
  exports: [RouteTable, LocalSocket],
})
export class RestModule
  extends ConfigurableModuleClass
  implements NestModule, BeforeApplicationShutdown, OnApplicationShutdown
{
  constructor(
    @Inject(HttpAdapterHost) private readonly host: HttpAdapterHost,
    @Inject(QUERIES) private readonly queries: Queries,
    @Inject(BodyParser) private readonly bodies: BodyParser,
    @Inject(RequestHooks) private readonly hooks: RequestHooks,
  ) {
    super();
  }

  /** Nest calls this before it registers routes. */
  configure(): void {
    this.hooks.install(this.fastify());
  }

  /** Ends watches and gives up requests, then waits until their responses are sent: Nest closes the socket next. */
  async beforeApplicationShutdown(): Promise<void> {
    this.queries.watches.close();
    await this.hooks.drain(this.fastify());
  }

  async onApplicationShutdown(): Promise<void> {
    await this.bodies.close();
  }

  private fastify(): FastifyInstance {
    return this.host.httpAdapter.getInstance<FastifyInstance>();
  }
}
