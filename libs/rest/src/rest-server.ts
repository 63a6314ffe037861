import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { LightMyRequestResponse, InjectOptions } from 'fastify';
import type { RestDependencies } from './dependencies';
import type { ServedRoute } from './http/route-table';
import { restAdapter } from './http/fastify-adapter';
import { assembleRest, type RestParts } from './rest-parts';
import type { WatchFigures } from './watch/watches';
import { RestModule } from './rest.module';

/** A REST server that is built and not yet listening. */
export interface RestServer {
  /** Listens and returns the port, also for port 0. Rejects when the port is taken. */
  listen(host: string, port: number): Promise<number>;
  /** Ends watches, answers what is under way and lets go of the port. */
  close(): Promise<void>;
  /** What its watches come to now. */
  watches(): WatchFigures;
  /** Every route that is served, as the router has them. */
  routes(): readonly ServedRoute[];
  /** A request without a socket; for tests. */
  inject(request: InjectOptions): Promise<LightMyRequestResponse>;
}

/** Builds the REST server of a control plane (design.md §6). The index should be loaded, or answers are 503 until then. */
export async function createRestServer(deps: RestDependencies): Promise<RestServer> {
  const parts = assembleRest(deps);
  const app = await NestFactory.create<NestFastifyApplication>(RestModule.register(parts), restAdapter(parts), {
    logger: false,
    bodyParser: false,
    abortOnError: false,
  });
  await app.init();
  return {
    listen: (host, port) => listen(app, host, port),
    close: () => close(app, parts),
    watches: () => parts.watches.figures(),
    routes: () => parts.routes.list(),
    inject: (request) => app.inject(request),
  };
}

async function listen(app: NestFastifyApplication, host: string, port: number): Promise<number> {
  await app.listen(port, host);
  const address = app.getHttpAdapter().getInstance().server.address();
  return typeof address === 'object' && address !== null ? address.port : port;
}

async function close(app: NestFastifyApplication, parts: RestParts): Promise<void> {
  parts.close();
  await app.close();
  await parts.bodies.close();
}
