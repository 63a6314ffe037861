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
import { Unavailable } from '@causeway/resources';
import type { FastifyInstance } from 'fastify';
import { eventStreamEncoder } from './answers/server-sent-events';
import { AccessGuard } from './http/access.guard';
import { BatchBodies } from './http/batch-body';
import { BodyParser } from './http/body-parser';
import { LocalSocket } from './http/local-socket';
import { ProblemFilter } from './http/problem.filter';
import { OPERATIONS } from '@causeway/api';
import { RequestAudit } from './http/request-audit';
import { RequestCallers } from './http/request-callers';
import { RequestHooks } from './http/request-hooks';
import { RequestSignals } from './http/request-signals';
import { RouteTable } from './http/route-table';
import { DocsController } from './openapi/docs.controller';
import { openApiText } from './openapi/open-api-document';
import { allEndpoints } from './endpoints/all-endpoints';
import { ENDPOINTS, operationsController } from './operations/operations.controller';
import { DEFAULT_LIMITS, QUERIES, REGISTRY, type RestDependencies, type RestLimits } from './rest-dependencies';

const { ConfigurableModuleClass, MODULE_OPTIONS_TOKEN } = new ConfigurableModuleBuilder<RestDependencies>()
  .setClassMethodName('forRoot')
  .build();

/** Aborts when the server ends. */
const ENDING = Symbol('Ending');

function mergeLimits({ limits }: RestDependencies): RestLimits {
  return { ...DEFAULT_LIMITS, ...limits };
}

/**
 * The REST interface of a control plane, for a Nest application over `restAdapter` with `REST_APPLICATION_OPTIONS`:
 * `RestModule.forRootAsync({ imports, inject, useFactory })`, where the factory gives RestDependencies.
 *
 * A request passes RequestHooks (request line, unknown paths) → AccessGuard → endpoint of the operation → ProblemFilter.
 */
@Module({
  controllers: [DocsController, operationsController(OPERATIONS)],
  providers: [
    { provide: REGISTRY, inject: [MODULE_OPTIONS_TOKEN], useFactory: (deps: RestDependencies) => deps.registry },
    { provide: QUERIES, inject: [MODULE_OPTIONS_TOKEN], useFactory: (deps: RestDependencies) => deps.queries },
    {
      provide: RequestCallers,
      inject: [MODULE_OPTIONS_TOKEN, LocalSocket],
      useFactory: ({ access, clock }: RestDependencies, local: LocalSocket) => new RequestCallers(access, local, clock),
    },
    {
      provide: LocalSocket,
      inject: [MODULE_OPTIONS_TOKEN, HttpAdapterHost],
      useFactory: (deps: RestDependencies, host: HttpAdapterHost) =>
        new LocalSocket(mergeLimits(deps), () => host.httpAdapter.getInstance<FastifyInstance>()),
    },
    {
      provide: RequestSignals,
      inject: [MODULE_OPTIONS_TOKEN],
      useFactory: (deps: RestDependencies) => new RequestSignals(deps.clock, mergeLimits(deps).requestTimeout),
    },
    {
      provide: BodyParser,
      inject: [MODULE_OPTIONS_TOKEN, RequestSignals],
      useFactory: (deps: RestDependencies, signals: RequestSignals) =>
        new BodyParser(mergeLimits(deps), signals, deps.clock),
    },
    {
      provide: BatchBodies,
      inject: [BodyParser, MODULE_OPTIONS_TOKEN],
      useFactory: (parser: BodyParser, deps: RestDependencies) =>
        new BatchBodies(parser, mergeLimits(deps), deps.clock),
    },
    { provide: ENDING, useFactory: () => new AbortController() },
    {
      provide: ENDPOINTS,
      inject: [MODULE_OPTIONS_TOKEN, RequestAudit, BatchBodies, ENDING],
      useFactory: (deps: RestDependencies, audit: RequestAudit, batches: BatchBodies, { signal }: AbortController) => {
        const { registry, queries, access, version, authority = () => undefined } = deps;
        return allEndpoints({
          ...deps,
          authority,
          audit,
          batches,
          reviews: new AccessReviews(registry, access.policy),
          events: eventStreamEncoder(queries.json),
          openApi: openApiText(registry, version),
          ending: signal,
        });
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
  @Inject(ENDING) private readonly ending: AbortController;

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
    // Backups under way are cut: their clients see that the end is missing.
    this.ending.abort(new Unavailable('this control plane is ending'));
    await this.hooks.drain(this.fastify());
  }

  async onApplicationShutdown(): Promise<void> {
    await this.bodies.close();
  }

  private fastify(): FastifyInstance {
    return this.host.httpAdapter.getInstance<FastifyInstance>();
  }
}
