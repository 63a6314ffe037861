import { Agent as PlainAgent, request as plainRequest, type IncomingMessage } from 'node:http';
import { Agent as TlsAgent, request as tlsRequest } from 'node:https';
import { text as textOf } from 'node:stream/consumers';
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '@causeway/resources';
import type { Connection } from '../api-client';
import { ApiError, ConnectionError, type ApiErrorCode, type ConnectionProblem } from '../api-error';
import type { RestAnswer, RestCalls, RestRequest } from './rest-calls';

/** One request; `body` is JSON lines where it is a list. */
export interface HttpRequest extends Omit<RestRequest, 'body'> {
  readonly body?: JsonObject | readonly unknown[];
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
}

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

/** Items of one page of a list. */
export const PAGE = 1_000;

/** URL of the server at a unix socket in its requests. */
const BEHIND_SOCKET = new URL('http://localhost/');

/** Characters of an answer that is no problem document, in an error's message. */
const SHOWN = 200;

/** A client of one control plane's HTTP, over connections that are kept. Every refusal is an ApiError. Not `fetch`, which takes no authority. */
export class HttpClient implements RestCalls {
  private readonly agent: PlainAgent | TlsAgent;
  /** Of a server at a unix socket. */
  private readonly socketPath: string | undefined;
  private expected: Promise<string> | undefined;

  constructor(private readonly connection: Connection) {
    const { server, ca, insecure = false } = connection;
    this.socketPath = server.protocol === 'unix:' ? decodeURIComponent(server.pathname) : undefined;
    const trust = { rejectUnauthorized: !insecure, ...(ca === undefined ? {} : { ca }) };
    this.agent =
      server.protocol === 'https:' ? new TlsAgent({ keepAlive: true, ...trust }) : new PlainAgent({ keepAlive: true });
  }

  async json(request: HttpRequest): Promise<JsonObject> {
    return (await this.answer(request)).body;
  }

  async answer(request: HttpRequest): Promise<RestAnswer> {
    const response = await this.open(request);
    const body = parse(await this.read(response));
    return { body: isJsonObject(body) ? body : {}, headers: response.headers };
  }

  async text(request: HttpRequest): Promise<string> {
    return this.read(await this.open(request));
  }

  async items({
    most = Infinity,
    ...request
  }: HttpRequest & { readonly most?: number }): Promise<readonly JsonObject[]> {
    const items: JsonObject[] = [];
    for await (const { body } of this.pages({
      ...request,
      query: { size: String(Math.min(PAGE, most)), ...request.query },
    })) {
      items.push(...readItems(body));
      if (items.length >= most) return items.slice(0, most);
    }
    return items;
  }

  expectedMesh(): Promise<string> {
    this.expected ??= this.json({ path: '/_resources' }).then(({ defaultMesh }) =>
      // A control plane that does not say it expects `default`.
      typeof defaultMesh === 'string' ? defaultMesh : 'default',
    );
    return this.expected;
  }

  /** The pages of a list, each when it is asked for. */
  async *pages(first: HttpRequest): AsyncGenerator<RestAnswer> {
    let request: HttpRequest | undefined = first;
    while (request) {
      const page = await this.answer(request);
      yield page;
      const { next } = page.body;
      request = typeof next === 'string' ? { path: next, signal: first.signal } : undefined;
    }
  }

  /** The lines of an answer, until it ends or the signal aborts. */
  async *lines(request: HttpRequest): AsyncGenerator<string> {
    const response = await this.open(request);
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

  private async open(request: HttpRequest): Promise<IncomingMessage> {
    const response = await this.send(request).catch((error: unknown) => this.unreachable(error));
    const { statusCode = 0 } = response;
    if (statusCode >= 200 && statusCode < 300) return response;
    throw refusal(statusCode, await this.read(response), retryAfterOf(response));
  }

  private read(response: IncomingMessage): Promise<string> {
    return textOf(response).catch((error: unknown) => this.unreachable(error));
  }

  private send({
    method = 'GET',
    path,
    query = {},
    body,
    headers = {},
    signal,
  }: HttpRequest): Promise<IncomingMessage> {
    const { token, signal: stop = undefined } = this.connection;
    const url = this.urlOf(path);
    for (const [key, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(key, value);
    const isList = Array.isArray(body);
    const text = isList ? body.map((one: unknown) => JSON.stringify(one)).join('\n') : body && JSON.stringify(body);
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

  /** A URL below the path of the server. Of an absolute URL (the next page of a list) only path and query count. */
  private urlOf(path: string): URL {
    const { server } = this.connection;
    const { origin, pathname: base } = this.socketPath === undefined ? server : BEHIND_SOCKET;
    const { pathname, search } = new URL(path, origin);
    return new URL(base.replace(/\/$/, '') + pathname + search, origin);
  }

  /** Throws what a failed connection is. */
  private unreachable(error: unknown): never {
    if (error instanceof ApiError) throw error;
    throw new ConnectionError(this.connection.server, problemOf(this.connection.server, error), error);
  }
}

/** The error of a problem document; `retryAfter` (ms) is what its headers say. */
export function problemError(statusCode: number, problem: JsonObject, retryAfter?: number): ApiError {
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
  const problem = parse(text);
  if (isJsonObject(problem) && ('title' in problem || 'detail' in problem))
    return problemError(statusCode, problem, retryAfter);
  const message = `the server answered ${statusCode} ${text.slice(0, SHOWN)}`.trimEnd();
  return new ApiError(CODES[statusCode] ?? 'internal', message, [], { retryAfter });
}

/** Returns Retry-After in ms (seconds of RFC 9110 §10.2.3); a date, which our servers never send, is ignored. */
function retryAfterOf({ headers }: IncomingMessage): number | undefined {
  const seconds = headers['retry-after'] ?? '';
  return /^\d{1,9}$/.test(seconds) ? Number(seconds) * 1_000 : undefined;
}

const UNKNOWN_AUTHORITY: readonly string[] = [
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
];

function problemOf(server: URL, error: unknown): ConnectionProblem {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (code === 'EACCES') return 'not-allowed';
  if (UNKNOWN_AUTHORITY.includes(code)) return 'unknown-authority';
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return 'other-name';
  if (code === 'CERT_HAS_EXPIRED' || code === 'CERT_NOT_YET_VALID') return 'not-valid-now';
  if (code === 'EPROTO' || code === 'ERR_SSL_WRONG_VERSION_NUMBER') return 'no-tls';
  const garbled = code.startsWith('HPE_') || (code === 'ECONNRESET' && server.protocol === 'http:');
  return garbled ? 'not-http' : 'unreachable';
}

/** The items of a page of a list. */
export function readItems({ items }: JsonObject): readonly JsonObject[] {
  return isJsonArray(items) ? items.filter(isJsonObject) : [];
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
