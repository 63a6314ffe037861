import type { FastifyInstance } from 'fastify';
import { isWrite } from './access.guard';
import type { CallerAuthorizer } from './caller-authorizer';
import { requestLineError } from './request-line';
import type { RequestSignals } from './request-signals';
import type { RouteTable } from './route-table';

/** How long requests under way may take when the application ends, ms; their signals have aborted by then. */
const DRAIN_TIME = 2_000;

/**
 * What is judged before Nest routes a request and before its body is read: the request line, and paths that no
 * controller serves. The generic routes of kinds match any two segments, so the router does not know such paths.
 */
export class RequestHooks {
  constructor(
    private readonly routes: RouteTable,
    private readonly authorizer: CallerAuthorizer,
    private readonly signals: RequestSignals,
  ) {}

  /** Has to be called before routes are registered. Failures go to ProblemFilter, as those of controllers do. */
  install(fastify: FastifyInstance): void {
    fastify.addHook('onRoute', ({ method, url }) => this.routes.add(method, url));
    fastify.addHook('onRequest', (request, reply, done) => {
      const error = requestLineError(request.url);
      if (error) return done(error);
      this.signals.begin(request, reply.raw);
      if (!request.is404 && this.routes.hasKnownKind(request.params)) return done();
      // A caller who may not write is told nothing about paths.
      if (isWrite(request)) this.authorizer.checkWriter(request);
      const allow = request.method === 'OPTIONS' ? this.routes.allowedFor(request.url) : [];
      if (allow.length === 0) return done(this.routes.notFoundOrMethodNotAllowed(request.method, request.url));
      void reply
        .code(204)
        .header('allow', [...allow, 'OPTIONS'].join(', '))
        .send('');
    });
  }

  /** Gives up the requests under way, and resolves when their responses are sent or have taken too long. */
  async drain(): Promise<void> {
    this.signals.close();
    await this.signals.drained(DRAIN_TIME);
  }
}
