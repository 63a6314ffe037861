import type { FastifyInstance } from 'fastify';
import { isWrite } from './access.guard';
import type { CallerAuthorizer } from './caller-authorizer';
import { requestLineError } from './request-line';
import type { RequestSignals } from './request-signals';
import type { RouteTable } from './route-table';

/** What the hooks work with. */
export interface RequestHooks {
  readonly routes: RouteTable;
  readonly authorizer: CallerAuthorizer;
  readonly signals: RequestSignals;
}

/**
 * Installs what is judged before Nest routes a request and before its body is read: the request line, and paths that
 * no controller serves. The generic routes of kinds match any two segments, so the router does not know such paths.
 * Call this before routes are registered. Failures go to ProblemFilter, as all others do.
 */
export function installRequestHooks(fastify: FastifyInstance, { routes, authorizer, signals }: RequestHooks): void {
  fastify.addHook('onRoute', ({ method, url }) => routes.add(method, url));
  fastify.addHook('onRequest', (request, reply, done) => {
    const error = requestLineError(request.url);
    if (error) return done(error);
    signals.begin(request, reply.raw);
    if (!request.is404 && routes.hasKnownKind(request.params)) return done();
    // A caller who may not write is told nothing about paths.
    if (isWrite(request)) authorizer.checkWriter(request);
    const allow = request.method === 'OPTIONS' ? routes.allowedFor(request.url) : [];
    if (allow.length === 0) return done(routes.notFoundOrMethodNotAllowed(request.method, request.url));
    void reply.code(204).header('allow', [...allow, 'OPTIONS'].join(', ')).send('');
  });
}
