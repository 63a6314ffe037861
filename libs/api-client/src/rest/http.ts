import { setMaxListeners } from 'node:events';
import { Agent as PlainAgent, request as plainRequest, type IncomingMessage } from 'node:http';
import { Agent as TlsAgent, request as tlsRequest } from 'node:https';
import { text as readText } from 'node:stream/consumers';
import { isJsonArray, isJsonObject, type JsonValue } from '@causeway/resources';
import type { Connection } from '../api-client';
import { ApiError, ConnectionError, type ApiErrorCode, type ConnectionProblem } from '../api-error';
import { parseJson, type RestTransport, type SentRequest } from './rest-calls';

const CODES: Readonly<Record<number, ApiErrorCode>> = {
  400: 'invalid',
  401: 'unauthenticated',
  403: 'forbidden',
  404: 'not-found',
  409: 'conflict',
  410: 'watch-expired',
  412: 'precondition-failed',
  413: 'exhausted',
  422: 'invalid',
  429: 'exhausted',
  503: 'unavailable',
};

/** The base URL of requests to a server on a unix socket. */
const BEHIND_SOCKET = new URL('http://localhost/');

/** Maximum number of characters of a non-problem answer in an error message. */
const SHOWN = 200;

/** Sends requests to one control plane over HTTP, with keep-alive. Not by `fetch`, which accepts no authority. */
export class HttpTransport implements RestTransport {
  readonly server: URL;
  private readonly agent: PlainAgent | TlsAgent;
  /** Set for a server on a unix socket. */
  private readonly socketPath: string | undefined;

  constructor(private readonly connection: Connection) {
    const { server, ca, insecure = false, signal } = connection;
    // Each request in flight listens to it.
    if (signal) setMaxListeners(0, signal);
    this.server = server;
    this.socketPath = server.protocol === 'unix:' ? decodeURIComponent(server.pathname) : undefined;
    const trust = { rejectUnauthorized: !insecure, ...(ca === undefined ? {} : { ca }) };
    this.agent =
      server.protocol === 'https:' ? new TlsAgent({ keepAlive: true, ...trust }) : new PlainAgent({ keepAlive: true });
  }

  /** Yields the lines of an answer, until it ends or the signal aborts. */
  async *lines(response: IncomingMessage): AsyncGenerator<string> {
    response.setEncoding('utf8');
    let rest = '';
    const chunks: AsyncIterable<string> = response;
    try {
      for await (const chunk of chunks) {
        const lines = (rest + chunk).split('\n');
        rest = lines.pop() ?? '';
        yield* lines;
      }
    } catch (error) {
      this.unreachable(error);
    }
    if (rest !== '') yield rest;
  }

  close(): void {
    this.agent.destroy();
  }

  async open(request: SentRequest): Promise<IncomingMessage> {
    const response = await this.send(request).catch((error: unknown) => this.unreachable(error));
    const { statusCode = 0 } = response;
    if (statusCode >= 200 && statusCode < 300) return response;
    throw refusal(statusCode, await this.read(response), readRetryAfter(response));
  }

  read(response: IncomingMessage): Promise<string> {
    return readText(response).catch((error: unknown) => this.unreachable(error));
  }

  private send({
    method = 'GET',
    path,
    query = {},
    body,
    headers = {},
    signal,
  }: SentRequest): Promise<IncomingMessage> {
    const { token, signal: stop = undefined } = this.connection;
    const url = this.toUrl(path);
    for (const [name, value] of queryPairs(query)) url.searchParams.set(name, value);
    const isList = Array.isArray(body);
    const text = isList ? body.map((one: unknown) => JSON.stringify(one)).join('\n') : JSON.stringify(body);
    const type = isList ? 'application/x-ndjson' : 'application/json';
    const ends = signal ?? stop;
    const options = {
      method,
      agent: this.agent,
      ...(this.socketPath === undefined ? {} : { socketPath: this.socketPath }),
      headers: {
        accept: 'application/json',
        ...headers,
        ...(text === undefined ? {} : { 'content-type': type, 'content-length': String(Buffer.byteLength(text)) }),
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      },
      ...(ends ? { signal: ends } : {}),
    };
    return new Promise((resolve, reject) => {
      const request = url.protocol === 'https:' ? tlsRequest(url, options) : plainRequest(url, options);
      request.once('response', resolve).once('error', reject).end(text);
    });
  }

  /** Returns a URL below the path of the server. Of an absolute URL (the next page of a list) only path and query are used. */
  private toUrl(path: string): URL {
    const { server } = this.connection;
    const { origin, pathname: base } = this.socketPath === undefined ? server : BEHIND_SOCKET;
    const { pathname, search } = new URL(path, origin);
    return new URL(base.replace(/\/$/, '') + pathname + search, origin);
  }

  /** Throws the ApiError of a failed connection. */
  private unreachable(error: unknown): never {
    if (error instanceof ApiError) throw error;
    throw new ConnectionError(this.connection.server, classifyProblem(this.connection.server, error), error);
  }
}

/** Returns the parameters of a query in their encoded form. */
function queryPairs(query: NonNullable<SentRequest['query']>): readonly (readonly [string, string])[] {
  return Object.entries(query).flatMap(([name, value]): (readonly [string, string])[] => {
    if (value === undefined) return [];
    if (typeof value !== 'object') return [[name, String(value)]];
    return Object.entries(value).map(([key, one]) => [`${name}[${key}]`, one]);
  });
}

/** Fields of a problem document, or of a refusing line of an answer. */
interface ProblemFields {
  readonly title?: unknown;
  readonly detail?: unknown;
  readonly invalid_parameters?: unknown;
}

/** Returns the error of a problem document; `retryAfter` (ms) comes from its headers. */
export function problemError(statusCode: number, problem: ProblemFields, retryAfter?: number): ApiError {
  const { title, detail, invalid_parameters: listed } = problem;
  const message = typeof detail === 'string' ? detail : typeof title === 'string' ? title : `status ${statusCode}`;
  const violations = (isJsonArray(listed) ? listed : []).flatMap((one: JsonValue) => {
    if (!isJsonObject(one)) return [];
    const { field, reason, rule } = one;
    if (typeof field !== 'string' || typeof reason !== 'string') return [];
    return [{ field, reason, rule: typeof rule === 'string' ? rule : '' }];
  });
  const named = typeof title === 'string' && title !== message ? { title } : {};
  return new ApiError(CODES[statusCode] ?? 'internal', message, violations, { ...named, retryAfter });
}

function refusal(statusCode: number, text: string, retryAfter: number | undefined): ApiError {
  const problem = parseJson(text);
  if (isJsonObject(problem) && ('title' in problem || 'detail' in problem))
    return problemError(statusCode, problem, retryAfter);
  const message = `the server answered ${statusCode} ${text.slice(0, SHOWN)}`.trimEnd();
  return new ApiError(CODES[statusCode] ?? 'internal', message, [], { retryAfter });
}

/** Returns Retry-After in ms (seconds of RFC 9110 §10.2.3); a date, which our servers never send, is ignored. */
function readRetryAfter({ headers }: IncomingMessage): number | undefined {
  const seconds = headers['retry-after'] ?? '';
  return /^\d{1,9}$/.test(seconds) ? Number(seconds) * 1_000 : undefined;
}

const UNKNOWN_AUTHORITY: readonly string[] = [
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
];

function classifyProblem(server: URL, error: unknown): ConnectionProblem {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (code === 'EACCES') return 'not-allowed';
  if (UNKNOWN_AUTHORITY.includes(code)) return 'unknown-authority';
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return 'other-name';
  if (code === 'CERT_HAS_EXPIRED' || code === 'CERT_NOT_YET_VALID') return 'not-valid-now';
  if (code === 'EPROTO' || code === 'ERR_SSL_WRONG_VERSION_NUMBER') return 'no-tls';
  if (code.startsWith('HPE_')) return 'not-http';
  return code === 'ECONNRESET' && server.protocol === 'http:' ? 'ended-early' : 'unreachable';
}
