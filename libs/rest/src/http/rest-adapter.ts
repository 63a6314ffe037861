import type { IncomingMessage, Server, ServerOptions } from 'node:http';
import type { Duplex } from 'node:stream';
import { REQUEST_ID, resolveRequestId } from '@causeway/runtime';
import type { NestApplicationOptions } from '@nestjs/common';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { FastifyReply, FastifyServerFactory } from 'fastify';
import { DEFAULT_LIMITS, type RestLimits } from '../rest-dependencies';
import { HttpError } from './http-error';
import { newInstance, problemJson, toProblem, PROBLEM_TYPE } from './problem.filter';
import type { RestTls } from './rest-tls';
import { UnreadBody } from './body-parser';

/** Maximum size of headers, bytes: above the longest token, so that a token that is too long gets a 401 with the reason. */
const MAX_HEADERS = 64 * 1024;
/** Idle timeout of a connection, ms. */
const KEEP_ALIVE = 72_000;

/** Options that an application with RestModule must pass to `NestFactory.create`, with `restAdapter`. */
export const REST_APPLICATION_OPTIONS = {
  logger: false,
  // The adapter passes bodies unread; pipes read them.
  bodyParser: false,
  abortOnError: false,
} as const satisfies NestApplicationOptions;

/**
 * Creates Nest's Fastify adapter with the limits of REST. Bodies arrive unread (UnreadBody). Failures before Nest can
 * route a request are also answered with a problem document. With `tls` it serves HTTPS only.
 */
export function restAdapter(chosen: Partial<RestLimits> = {}, tls?: RestTls): FastifyAdapter {
  const limits = { ...DEFAULT_LIMITS, ...chosen };
  const { requestTimeout, keepAliveTimeout, ...http } = httpServerOptions(limits);
  const adapter = new FastifyAdapter({
    skipMiddie: true,
    logger: false,
    genReqId: ({ headers }: IncomingMessage) => resolveRequestId(headers[REQUEST_ID]),
    bodyLimit: limits.body,
    requestTimeout,
    keepAliveTimeout,
    forceCloseConnections: true,
    return503OnClosing: false,
    http,
    ...(tls ? { serverFactory: tlsServerFactory(tls, httpServerOptions(limits)) } : {}),
    // Admission refuses longer names, or they do not exist; the router must not have a limit of its own.
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: MAX_HEADERS },
    frameworkErrors: (cause: unknown, _request: unknown, reply: FastifyReply) => {
      const error = new HttpError(400, 'The path of this request cannot be decoded.', { cause });
      const { problem } = toProblem(error, newInstance());
      void reply.code(problem.status).type(PROBLEM_TYPE).send(problemJson(problem));
    },
    clientErrorHandler: refuseUnparsable,
  });
  const fastify = adapter.getInstance();
  limitConnections(fastify.server, limits);
  fastify.removeAllContentTypeParsers();
  fastify.addContentTypeParser('*', (request, payload, done) =>
    done(null, new UnreadBody(request, payload, limits.body)),
  );
  return adapter;
}

/** Returns timeouts and sizes of an HTTP server; Fastify sets them only on servers that it creates itself. */
export function httpServerOptions({ requestTimeout }: Pick<RestLimits, 'requestTimeout'>) {
  return {
    requestTimeout,
    keepAliveTimeout: KEEP_ALIVE,
    maxHeaderSize: MAX_HEADERS,
    // Node applies the longer of both to the whole request, and checks only now and then.
    headersTimeout: requestTimeout,
    connectionsCheckingInterval: Math.ceil(requestTimeout / 10),
  } as const satisfies ServerOptions;
}

function tlsServerFactory(tls: RestTls, options: ServerOptions): FastifyServerFactory {
  return (handler) => tls.createServer(options, handler);
}

/** Answers a connection whose request could not be parsed with a problem document, if possible, and ends it. */
export function refuseUnparsable(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (socket.writable && !error.code?.startsWith('ERR_SSL')) socket.end(rawProblem(error.code));
  else socket.destroy();
}

/** Returns an HTTP message for a connection whose request could not be parsed; `code` is Node's. */
function rawProblem(code: string | undefined): string {
  const { status, phrase, detail } = RAW_PROBLEMS[code ?? ''] ?? NOT_HTTP;
  const { problem } = toProblem(Object.assign(new Error(detail), { statusCode: status }), newInstance());
  const body = problemJson(problem);
  const headers = { 'content-type': PROBLEM_TYPE, 'content-length': Buffer.byteLength(body), connection: 'close' };
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${phrase}\r\n${head.join('')}\r\n${body}`;
}

interface RawProblem {
  readonly status: number;
  readonly phrase: string;
  readonly detail: string;
}

const NOT_HTTP: RawProblem = { status: 400, phrase: 'Bad Request', detail: 'This is not a request of HTTP/1.1.' };

const RAW_PROBLEMS: Readonly<Record<string, RawProblem>> = {
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: 408,
    phrase: 'Request Timeout',
    detail: 'The request did not arrive in time.',
  },
  HPE_HEADER_OVERFLOW: {
    status: 431,
    phrase: 'Request Header Fields Too Large',
    detail: `The headers are larger than ${MAX_HEADERS} bytes.`,
  },
};

/** Limits the connections of a server, in total and per client address; a connection above the limit is closed. */
export function limitConnections(
  server: Server,
  { connections, connectionsPerClient }: Pick<RestLimits, 'connections' | 'connectionsPerClient'>,
): void {
  server.maxConnections = connections;
  const clients = new Map<string, number>();
  server.on('connection', (socket) => {
    const client = socket.remoteAddress ?? '';
    const open = (clients.get(client) ?? 0) + 1;
    if (open > connectionsPerClient) return void socket.destroy();
    clients.set(client, open);
    socket.on('close', () => {
      const left = (clients.get(client) ?? 1) - 1;
      if (left > 0) clients.set(client, left);
      else clients.delete(client);
    });
  });
}
