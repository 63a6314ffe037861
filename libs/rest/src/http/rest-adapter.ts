import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { FastifyReply } from 'fastify';
import type { RestServices } from '../rest-services';
import { send } from './rest-response';
import { problemResponse } from './problem.filter';
import { limitConnections } from './limit-connections';
import { HttpError } from './http-error';
import { requestLineError } from './request-line';

const MAX_HEADERS = 16 * 1024;

type AdapterServices = Pick<RestServices, 'limits' | 'routes' | 'guard' | 'requestSignals' | 'logger'>;

/**
 * Nest's Fastify adapter with our limits; bodies arrive as bytes and are read by `BodyParser`, and every error,
 * also those before routing, is a problem document.
 */
export function restAdapter({ limits, routes, guard, requestSignals, logger }: AdapterServices): FastifyAdapter {
  const adapter = new FastifyAdapter({
    skipMiddie: true,
    logger: false,
    bodyLimit: limits.body,
    requestTimeout: limits.requestTimeout,
    forceCloseConnections: true,
    return503OnClosing: false,
    http: {
      maxHeaderSize: MAX_HEADERS,
      // Node takes the longer of both for the whole request, and looks for late ones only now and then.
      headersTimeout: limits.requestTimeout,
      connectionsCheckingInterval: Math.ceil(limits.requestTimeout / 10),
    },
    // A longer name is refused by admission or not found; the router must not have an opinion of its own.
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: MAX_HEADERS },
    frameworkErrors: (error: unknown, _request: unknown, reply: FastifyReply) => {
      const failure = new HttpError(400, 'The path of this request cannot be decoded.', { cause: error });
      send(reply, problemResponse(failure, logger));
    },
    clientErrorHandler: (error, socket) => {
      if (socket.writable) socket.end(rawProblem(error, logger));
    },
  });
  const fastify = adapter.getInstance();
  limitConnections(fastify.server, limits);
  fastify.addHook('onRoute', ({ method, url }) => routes.add(method, url));
  // Before a body is read that nobody wants, and before anything is told to who may not ask.
  fastify.addHook('onRequest', (request, reply, done) => {
    const refused =
      requestLineError(request.url) ?? errorThrownBy(() => guard.check(request, request.routeOptions.url));
    if (refused !== undefined) return send(reply, problemResponse(refused, logger));
    requestSignals.begin(request, reply.raw);
    done();
  });
  // The generic routes also catch paths that are no kind's.
  fastify.addHook('onRequest', (request, reply, done) => {
    if (!request.is404 && routes.hasKnownKind(request.params)) return done();
    send(
      reply,
      routes.optionsResponse(request.method, request.url) ??
        problemResponse(routes.notFoundOrMethodNotAllowed(request.method, request.url), logger),
    );
  });
  fastify.removeAllContentTypeParsers();
  fastify.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  return adapter;
}

/** What `check` throws. */
function errorThrownBy(check: () => void): unknown {
  try {
    check();
    return undefined;
  } catch (error) {
    return error;
  }
}

/** An HTTP message for a connection whose request could not even be parsed. */
function rawProblem(error: { readonly code?: string }, logger: AdapterServices['logger']): string {
  const status = error.code === 'HPE_HEADER_OVERFLOW' ? 431 : error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : 400;
  const { headers, body } = problemResponse(
    Object.assign(new Error(RAW_DETAILS[status]), { statusCode: status }),
    logger,
  );
  const lines = { ...headers, 'content-length': String(Buffer.byteLength(body)), connection: 'close' };
  const head = Object.entries(lines).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${RAW_PHRASES[status]}\r\n${head.join('')}\r\n${body}`;
}

const RAW_DETAILS = {
  400: 'This is not a request of HTTP/1.1.',
  408: 'The request did not arrive in time.',
  431: `The headers are larger than ${MAX_HEADERS} bytes.`,
} as const;

const RAW_PHRASES = { 400: 'Bad Request', 408: 'Request Timeout', 431: 'Request Header Fields Too Large' } as const;
