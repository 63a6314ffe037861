import { Controller, HttpCode, Inject, Req, RequestMapping, RequestMethod, Res, type Type } from '@nestjs/common';
import { routePath, type KindOperation, type Operation } from '@causeway/api';
import { injectionToken } from '@causeway/runtime';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Access } from '../http/access.guard';
import { RequestCallers } from '../http/request-callers';
import { RequestSignals } from '../http/request-signals';
import { Call } from './call';
import type { Endpoint } from './endpoint';

/** Token of the endpoints of this server. */
export const ENDPOINTS = injectionToken<readonly Endpoint[]>('Endpoints');

/** Base class of the only controller, for all operations: finds the endpoint of a route and sends its result. */
class EndpointServer {
  private readonly serves: ReadonlyMap<string, Endpoint['serve']>;

  constructor(
    endpoints: readonly Endpoint[],
    private readonly sources: { readonly callers: RequestCallers; readonly signals: RequestSignals },
  ) {
    this.serves = new Map(endpoints.map(({ operation, serve }) => [routeName(operation), serve]));
  }

  async serve(name: string, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const answer = await this.serves.get(name)?.(new Call(request, reply, this.sources));
    // Undefined if the handler has sent its answer itself: a stream, or a frequent route.
    if (answer !== undefined) void reply.send(answer);
  }
}

function routeName({ method, path }: Operation | KindOperation): string {
  return `${method} ${path}`;
}

/** Returns the controller class whose routes are the operations, each with its method, paths, and right for AccessGuard. */
export function operationsController(operations: readonly (Operation | KindOperation)[]): Type {
  @Controller()
  class OperationsController extends EndpointServer {
    constructor(
      @Inject(ENDPOINTS) endpoints: readonly Endpoint[],
      @Inject(RequestCallers) callers: RequestCallers,
      @Inject(RequestSignals) signals: RequestSignals,
    ) {
      super(endpoints, { callers, signals });
      const served = new Set(endpoints.map(({ operation }) => operation));
      const missing = operations.find((operation) => !served.has(operation));
      if (missing) throw new Error(`the operation ${routeName(missing)} has no endpoint`);
    }
  }
  const { prototype } = OperationsController;
  for (const operation of operations) {
    const { method, path, aliases = [], access } = operation;
    const name = routeName(operation);
    const value = function (this: EndpointServer, request: FastifyRequest, reply: FastifyReply): Promise<void> {
      return this.serve(name, request, reply);
    };
    const descriptor = { value, configurable: true, writable: true };
    Object.defineProperty(prototype, name, descriptor);
    const decorators = [
      RequestMapping({ path: [path, ...aliases].map(routePath), method: RequestMethod[method] }),
      HttpCode(200),
      Access(access),
    ];
    for (const decorate of decorators) decorate(prototype, name, descriptor);
    Req()(prototype, name, 0);
    Res()(prototype, name, 1);
  }
  return OperationsController;
}
