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
import { injectFrom, injectionToken, provideFrom, type Provided } from '@causeway/runtime';
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
import type { Endpoint } from './operations/endpoint';
import { ENDPOINTS, operationsController } from './operations/operations.controller';
import { DEFAULT_LIMITS, QUERIES, REGISTRY, type RestDependencies, type RestLimits } from './rest-dependencies';

const DEPENDENCIES = injectionToken<RestDependencies>('RestDependencies');

const { ConfigurableModuleClass } = new ConfigurableModuleBuilder<RestDependencies>({
  optionsInjectionToken: DEPENDENCIES,
})
  .setClassMethodName('forRoot')
  .build();

/** Aborts when the server shuts down. */
const ENDING = injectionToken<AbortController>('Ending');

function mergeLimits({ limits }: RestDependencies): RestLimits {
  return { ...DEFAULT_LIMITS, ...limits };
}

const ENDPOINT_SOURCES = { deps: DEPENDENCIES, audit: RequestAudit, batches: BatchBodies, ending: ENDING };

function createEndpoints({ deps, audit, batches, ending }: Provided<typeof ENDPOINT_SOURCES>): readonly Endpoint[] {
  const { registry, queries, access, version, authority = () => undefined } = deps;
  return allEndpoints({
    ...deps,
    authority,
    audit,
    batches,
    reviews: new AccessReviews(registry, access.policy),
    events: eventStreamEncoder(queries.json),
    openApi: openApiText(registry, version),
    ending: ending.signal,
  });
}

/**
 * REST interface of a control plane, for a Nest application over `restAdapter` with `REST_APPLICATION_OPTIONS`:
 * `RestModule.forRootAsync({ imports, inject, useFactory })`, where the factory returns RestDependencies. A request
 * passes RequestHooks (request line, unknown paths) → AccessGuard → endpoint of the operation → ProblemFilter.
 */
@Module({
  controllers: [DocsController, operationsController(OPERATIONS)],
  providers: [
    provideFrom(REGISTRY, { deps: DEPENDENCIES }, ({ deps }) => deps.registry),
    provideFrom(QUERIES, { deps: DEPENDENCIES }, ({ deps }) => deps.queries),
    provideFrom(
      RequestCallers,
      { deps: DEPENDENCIES, local: LocalSocket },
      ({ deps: { access, clock }, local }) => new RequestCallers(access, local, clock),
    ),
    provideFrom(
      LocalSocket,
      { deps: DEPENDENCIES, host: HttpAdapterHost },
      ({ deps, host }) => new LocalSocket(mergeLimits(deps), () => host.httpAdapter.getInstance<FastifyInstance>()),
    ),
    provideFrom(
      RequestSignals,
      { deps: DEPENDENCIES },
      ({ deps }) => new RequestSignals(deps.clock, mergeLimits(deps).requestTimeout),
    ),
    provideFrom(
      BodyParser,
      { deps: DEPENDENCIES, signals: RequestSignals },
      ({ deps, signals }) => new BodyParser(mergeLimits(deps), signals, deps.clock),
    ),
    provideFrom(
      BatchBodies,
      { deps: DEPENDENCIES, parser: BodyParser },
      ({ deps, parser }) => new BatchBodies(parser, mergeLimits(deps), deps.clock),
    ),
    provideFrom(ENDING, {}, () => new AbortController()),
    provideFrom(ENDPOINTS, ENDPOINT_SOURCES, createEndpoints),
    provideFrom(RouteTable, { deps: DEPENDENCIES }, ({ deps }) => new RouteTable(deps.registry, deps.diagnosticsPort)),
    provideFrom(
      RequestHooks,
      { deps: DEPENDENCIES, routes: RouteTable, signals: RequestSignals, audit: RequestAudit },
      ({ deps: { clock, observe, tracer }, audit, ...sources }) =>
        new RequestHooks({ ...sources, audit, callers: audit.callers, clock, observe, tracer }),
    ),
    provideFrom(
      RequestAudit,
      { deps: DEPENDENCIES, callers: RequestCallers },
      ({ deps: { recorder, registry }, callers }) => new RequestAudit(recorder, registry, callers),
    ),
    {
      provide: APP_FILTER,
      ...injectFrom(
        { deps: DEPENDENCIES, audit: RequestAudit },
        ({ deps, audit }) => new ProblemFilter(deps.logger, audit),
      ),
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

  /** Ends watches and aborts requests, then waits until their responses are sent: Nest closes the socket next. */
  async beforeApplicationShutdown(): Promise<void> {
    this.queries.watches.close();
    // Running backups are truncated: their clients see that the end is missing.
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
