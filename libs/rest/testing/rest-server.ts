import { AuditRecorder } from '@causeway/access';
import { createQueries, type Issuers, type QuerySources, type WatchMetrics } from '@causeway/queries';
import type { DataplaneSources, QueryLimits } from '@causeway/queries/testing';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { LightMyRequestResponse, InjectOptions } from 'fastify';
import type { RestDependencies, RestLimits } from '../src/rest-dependencies';
import { RouteTable, type RegisteredRoute } from '../src/http/route-table';
import { REST_APPLICATION_OPTIONS, restAdapter } from '../src/http/rest-adapter';
import type { RestTls } from '../src/http/rest-tls';
import { RestModule } from '../src/rest.module';

/** A REST server that is built and not yet listening. */
export interface RestServer {
  /** Listens and returns the port, also for port 0. Rejects when the port is taken. */
  listen(host: string, port: number): Promise<number>;
  /** Ends watches, answers the requests under way and frees the port. */
  close(): Promise<void>;
  /** The metrics of its watches. */
  watches(): WatchMetrics;
  /** Every route that is served, as the router has them. */
  routes(): readonly RegisteredRoute[];
  /** A request without a socket. */
  inject(request: InjectOptions): Promise<LightMyRequestResponse>;
}

/** Options of a standalone server: its queries are its own. */
export interface RestServerOptions
  extends
    Omit<QuerySources, 'limits' | 'issuers' | 'zone'>,
    Issuers,
    DataplaneSources,
    Omit<RestDependencies, 'queries' | 'recorder' | 'version' | 'limits'> {
  readonly limits?: Partial<RestLimits & QueryLimits>;
  /** Serves HTTPS; its certificates are in use before `listen`. */
  readonly tls?: RestTls;
}

/** A Nest application that consists of RestModule alone, for tests and benchmarks; control planes import the module. */
export async function createRestServer(options: RestServerOptions): Promise<RestServer> {
  const queries = createQueries({ ...options, issuers: options, zone: options });
  const recorder = new AuditRecorder({ ...options, log: options.audit });
  const app = await NestFactory.create<NestFastifyApplication>(
    RestModule.forRoot({ ...options, queries, recorder, version: options.program.version }),
    restAdapter(options.limits, options.tls),
    REST_APPLICATION_OPTIONS,
  );
  await app.init();
  const routes = app.get(RouteTable);
  return {
    listen: (host, port) => listen(app, host, port),
    close: async () => {
      await app.close();
      queries.close();
      await recorder.close();
    },
    watches: () => queries.watches.metrics(),
    routes: () => routes.list(),
    inject: (request) => app.inject(request),
  };
}

async function listen(app: NestFastifyApplication, host: string, port: number): Promise<number> {
  await app.listen(port, host);
  const address = app.getHttpAdapter().getInstance().server.address();
  return typeof address === 'object' && address !== null ? address.port : port;
}
