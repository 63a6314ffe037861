import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { LightMyRequestResponse, InjectOptions } from 'fastify';
import type { WatchMetrics } from '@causeway/queries';
import type { RestDependencies } from './rest-dependencies';
import type { RegisteredRoute } from './http/route-table';
import { restAdapter } from './http/rest-adapter';
import { createRestServices, type RestServices } from './rest-services';
import { RestModule } from './rest.module';

/** A REST server that is built and not yet listening. */
export interface RestServer {
  /** Listens and returns the port, also for port 0. Rejects when the port is taken. */
  listen(host: string, port: number): Promise<number>;
  /** Ends watches, answers what is under way and lets go of the port. */
  close(): Promise<void>;
  /** What its watches come to now. */
  watches(): WatchMetrics;
  /** Every route that is served, as the router has them. */
  routes(): readonly RegisteredRoute[];
  /** A request without a socket; for tests. */
  inject(request: InjectOptions): Promise<LightMyRequestResponse>;
}

/** Builds the REST server of a control plane (design.md §6). The index should be loaded, or answers are 503 until then. */
export async function createRestServer(deps: RestDependencies): Promise<RestServer> {
  const parts = createRestServices(deps);
  const app = await NestFactory.create<NestFastifyApplication>(RestModule.register(parts), restAdapter(parts), {
    logger: false,
    bodyParser: false,
    abortOnError: false,
  });
  await app.init();
  return {
    listen: (host, port) => listen(app, host, port),
    close: () => close(app, parts),
    watches: () => parts.queries.watches.metrics(),
    routes: () => parts.routes.list(),
    inject: (request) => app.inject(request),
  };
}

async function listen(app: NestFastifyApplication, host: string, port: number): Promise<number> {
  await app.listen(port, host);
  const address = app.getHttpAdapter().getInstance().server.address();
  return typeof address === 'object' && address !== null ? address.port : port;
}

async function close(app: NestFastifyApplication, parts: RestServices): Promise<void> {
  parts.close();
  await app.close();
  await parts.bodies.close();
}
