import type { Server } from 'node:http';
import { noTracer, REQUEST_ID, type Clock, type Tracer } from '@causeway/runtime';
import type { CallerRights } from '@causeway/access';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { isWrite } from './access.guard';
import type { AnsweredRequest, RequestObserver } from './answered-request';
import { HttpError } from './http-error';
import type { RequestCallers } from './request-callers';
import type { RequestAudit } from './request-audit';
import type { RequestSignals } from './request-signals';
import { beginTrace, endTrace } from './request-trace';
import { stripQuery, type RouteTable } from './route-table';

/** Timeout for pending requests when the application ends, ms; their signals have aborted by then. */
const DRAIN_TIME = 2_000;
const DRAIN_STEP = 10;

/** Dependencies of the hooks. */
interface RequestHookParts {
  readonly routes: RouteTable;
  readonly callers: RequestCallers;
  readonly signals: RequestSignals;
  readonly audit: RequestAudit;
  readonly clock: Clock;
  readonly observe: RequestObserver | undefined;
  readonly tracer?: Tracer | undefined;
}

/**
 * Checks before Nest routes a request and before its body is read: the request line, the sender, and unknown paths,
 * which the router cannot detect because the generic routes of kinds match any two segments.
 */
export class RequestHooks {
  constructor(private readonly parts: RequestHookParts) {}

  /** Must be called before routes are registered. Failures go to ProblemFilter, like those of controllers. */
  install(fastify: FastifyInstance): void {
    const { routes, callers, signals, audit, observe, tracer = noTracer } = this.parts;
    fastify.addHook('onRoute', (route) => {
      routes.add(route.method, route.url);
      audit.watch(route);
    });
    fastify.addHook('onResponse', (request, reply, done) => {
      observe?.(this.answered(request, reply));
      endTrace(request, reply.statusCode);
      done();
    });
    fastify.addHook('onRequest', (request, reply, done) => {
      void reply.header(REQUEST_ID, request.id);
      beginTrace(request, findRoute(request), tracer);
      const error = requestLineError(request.url);
      if (error) return done(error);
      signals.begin(request, reply.raw);
      callers
        .identify(request)
        .then((rights) => this.route(request, reply, rights))
        .then((isRouted) => isRouted && done(), done);
    });
  }

  private answered(request: FastifyRequest, reply: FastifyReply): AnsweredRequest {
    const { id, method, url } = request;
    const { user = '', traceId } = this.parts.audit.getSource(request);
    return {
      id,
      method,
      user,
      status: reply.statusCode,
      ms: reply.elapsedTime,
      ...(traceId === undefined ? {} : { traceId }),
      route: findRoute(request),
      path: stripQuery(url).slice(0, 200),
      isWatch: String(reply.getHeader('content-type')).startsWith('text/event-stream'),
      address: request.socket.remoteAddress ?? '',
    };
  }

  /** Returns true for a request that a controller handles; any other is answered here, or throws. */
  private route(request: FastifyRequest, reply: FastifyReply, rights: CallerRights): boolean {
    const { routes } = this.parts;
    if (!request.is404 && routes.hasKnownKind(request.params)) return true;
    // A caller without any rights must not learn which paths exist.
    if (isWrite(request)) rights.checkAny();
    const allow = request.method === 'OPTIONS' ? routes.allowedFor(request.url) : [];
    if (allow.length === 0) throw routes.notFoundOrMethodNotAllowed(request.method, request.url);
    void reply
      .code(204)
      .header('allow', [...allow, 'OPTIONS'].join(', '))
      .send('');
    return false;
  }

  /** Aborts pending requests, resolves when their responses are sent or have timed out, and closes the local socket. */
  async drain({ server: main }: FastifyInstance): Promise<void> {
    const { callers, signals, clock } = this.parts;
    const servers = [main, ...callers.local.listening()];
    callers.close();
    signals.close();
    for (const end = clock.elapsed() + DRAIN_TIME; clock.elapsed() < end; await clock.sleep(DRAIN_STEP)) {
      // A connection becomes idle when its response is sent.
      for (const server of servers) server.closeIdleConnections();
      const open = await Promise.all(servers.map(countConnections));
      if (open.every((count) => count === 0)) break;
    }
    await callers.local.close();
  }
}

/** Returns the router's pattern; empty if no route matched. */
function findRoute({ is404, routeOptions }: FastifyRequest): string {
  return is404 ? '' : (routeOptions.url ?? '');
}

function countConnections(server: Server): Promise<number> {
  return new Promise((resolve, reject) =>
    server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
  );
}

/** Maximum length of path and query, in characters as received; valid names and selectors are many times shorter. */
const MAX_PATH_LENGTH = 8_192;
const MAX_QUERY_LENGTH = 8_192;

/** Maximum number of parameters in a query. */
const MAX_QUERY_PARAMETERS = 64;

/** ASCII control characters, raw or percent-encoded. */
const CONTROL = /[\u0000-\u001f\u007f]|%(?:[01][0-9a-f]|7f)/i;

/** Returns the error of a request line: 400 or 414; undefined if it is valid. Linear in its length. */
export function requestLineError(url: string): HttpError | undefined {
  const path = stripQuery(url);
  const query = url.slice(path.length + 1);
  if (path.length > MAX_PATH_LENGTH)
    return new HttpError(414, `A path may have ${MAX_PATH_LENGTH} characters, this one has ${path.length}.`);
  if (query.length > MAX_QUERY_LENGTH)
    return new HttpError(414, `A query may have ${MAX_QUERY_LENGTH} characters, this one has ${query.length}.`);
  const parameters = query.split('&', MAX_QUERY_PARAMETERS + 1);
  if (parameters.length > MAX_QUERY_PARAMETERS)
    return new HttpError(400, `A query may have ${MAX_QUERY_PARAMETERS} parameters; this one has more.`);
  if (CONTROL.test(path)) return new HttpError(400, 'The path of this request has a control character.');
  return controlIn(parameters);
}

function controlIn(parameters: readonly string[]): HttpError | undefined {
  const bad = parameters.findIndex((parameter) => CONTROL.test(parameter));
  if (bad < 0) return undefined;
  const name = /^[A-Za-z0-9_-]{1,40}(?==)/.exec(parameters[bad] ?? '')?.[0];
  const which = name === undefined ? `number ${bad + 1}` : `"${name}"`;
  return new HttpError(400, `The query of this request has a control character in parameter ${which}.`);
}
