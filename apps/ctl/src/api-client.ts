import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { text as textOf } from 'node:stream/consumers';
import { isJsonArray, isJsonObject, type JsonObject, type Violation } from '@causeway/resources';
import { connectionFailure, HttpTransport, type Connection } from './transport';

/** What the CLI shows of a violation. */
type ReportedViolation = Pick<Violation, 'field' | 'reason'>;

/** A refusal of the server with its violations. */
export class ApiError extends Error {
  constructor(
    message: string,
    readonly status: number,
    readonly violations: readonly ReportedViolation[] = [],
  ) {
    super(message);
    this.name = 'ApiError';
  }
}

/** One answer of the server. */
export interface ApiAnswer {
  readonly status: number;
  readonly body: unknown;
  /** The outcome of a write: created, updated or unchanged; undefined for other requests. */
  readonly outcome: string | undefined;
  readonly headers: IncomingHttpHeaders;
}

export interface ApiRequest {
  readonly method: 'GET' | 'PUT' | 'PATCH' | 'POST' | 'DELETE';
  readonly path: string;
  readonly query?: Readonly<Record<string, string | undefined>>;
  readonly body?: unknown;
  /** Sent as it is, instead of `body`. */
  readonly text?: { readonly type: string; readonly content: string };
  /** The ETag of the state that a write changes; the server refuses with 412 if the state is another. */
  readonly ifMatch?: string;
  readonly signal?: AbortSignal;
}

/**
 * Parses the address of a server as users type it: the default scheme is `http://`, and a path is kept. Undefined if it is
 * not an HTTP address.
 */
export function parseServer(text: string): URL | undefined {
  const given = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`;
  const url = URL.canParse(given) ? new URL(given) : undefined;
  const usable = url && /^https?:$/.test(url.protocol) && url.username === '' && url.search === '' && url.hash === '';
  return usable ? url : undefined;
}

/** A client of the REST interface of one control plane. Every refusal is an `ApiError`. */
export class ApiClient {
  private readonly transport: HttpTransport;

  /** `stop` ends every request that has no signal of its own. */
  constructor(
    private readonly connection: Connection,
    private readonly stop?: AbortSignal,
  ) {
    this.transport = new HttpTransport(connection);
  }

  /** The address of the control plane. */
  get server(): URL {
    return this.connection.server;
  }

  async send(request: ApiRequest): Promise<ApiAnswer> {
    const response = await this.open(request);
    const { statusCode: status = 0, headers } = response;
    const text = await this.read(response, request);
    const body: unknown = text === '' ? {} : parseJson(text);
    if (!isDone(status)) throw refusal(status, body, text);
    const outcome = headers['causeway-outcome'];
    return { status, body, outcome: typeof outcome === 'string' ? outcome : undefined, headers };
  }

  /** The text of an answer that is not JSON. */
  async text(request: ApiRequest): Promise<string> {
    const response = await this.open(request);
    const text = await this.read(response, request);
    if (!isDone(response.statusCode)) throw refusal(response.statusCode, parseJson(text), text);
    return text;
  }

  /** The lines of an answer as they arrive (events, JSON lines), until it ends or `signal` aborts. */
  async *events(request: ApiRequest, signal: AbortSignal): AsyncIterable<string> {
    const response = await this.open({ ...request, signal });
    if (!isDone(response.statusCode)) {
      const text = await textOf(response);
      throw refusal(response.statusCode, parseJson(text), text);
    }
    const decoder = new TextDecoder();
    let rest = '';
    const chunks: AsyncIterable<Uint8Array> = response;
    for await (const chunk of chunks) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
      rest = lines.pop() ?? '';
      yield* lines;
    }
  }

  /** A URL below the path of the server. Of an absolute URL (the next page of a list) only path and query count. */
  private urlOf(path: string): URL {
    const { origin, pathname: base } = this.server;
    const { pathname, search } = new URL(path, origin);
    return new URL(base.replace(/\/$/, '') + pathname + search, origin);
  }

  private async open({
    method,
    path,
    query = {},
    body,
    text: given,
    ifMatch,
    signal = this.stop,
  }: ApiRequest): Promise<IncomingMessage> {
    const url = this.urlOf(path);
    for (const [key, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(key, value);
    const { token } = this.connection;
    const type = given?.type ?? (method === 'PATCH' ? 'application/merge-patch+json' : 'application/json');
    const text = given?.content ?? (body === undefined ? undefined : JSON.stringify(body));
    const headers = {
      accept: 'application/json',
      ...(text === undefined ? {} : { 'content-type': type, 'content-length': String(Buffer.byteLength(text)) }),
      ...(token ? { authorization: `Bearer ${token}` } : {}),
      ...(ifMatch === undefined ? {} : { 'if-match': ifMatch }),
    };
    const sent = { method, url, headers, ...(text === undefined ? {} : { body: text }), ...(signal ? { signal } : {}) };
    return this.transport.send(sent).catch((error: unknown) => this.fail(error, signal));
  }

  private read(response: IncomingMessage, { signal }: ApiRequest): Promise<string> {
    return textOf(response).catch((error: unknown) => this.fail(error, signal ?? this.stop));
  }

  private fail(error: unknown, signal: AbortSignal | undefined): never {
    if (signal?.aborted) throw error;
    throw new ApiError(connectionFailure(this.server, error), 0);
  }
}

function isDone(status = 0): boolean {
  return status >= 200 && status < 300;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The error of a problem document; `text` is what came where it is none. */
export function refusal(status = 0, body: unknown, text: string): ApiError {
  const problem: JsonObject = isProblem(body) ? body : {};
  const message = [problem['title'], problem['detail']].filter((part) => typeof part === 'string').join(': ');
  const listed = problem['invalid_parameters'];
  const violations = Array.isArray(listed) ? listed.flatMap(toViolation) : [];
  return new ApiError(inFlags(message) || `the server answered ${status} ${text.slice(0, 200)}`, status, violations);
}

/** A message that names query parameters of REST, with the flags of this program in their place: `zone=east` is `-z east`. */
export function inFlags(message: string): string {
  return message
    .replaceAll(/\bzone= \(the global\)/g, '-z global')
    .replaceAll(/\bzone=([a-z0-9][a-z0-9.-]*)/g, '-z $1')
    .replaceAll(/&namespace=([a-z0-9][a-z0-9.-]*)/g, ' -n $1');
}

function isProblem(body: unknown): body is JsonObject {
  return isJsonObject(body);
}

function toViolation(item: unknown): ReportedViolation[] {
  if (!isJsonObject(item)) return [];
  const { field, reason } = item;
  return typeof field === 'string' && typeof reason === 'string' ? [{ field, reason }] : [];
}

/** All items of a list, page by page. */
export async function listAll(api: ApiClient, request: Omit<ApiRequest, 'method'>): Promise<JsonObject[]> {
  const items: JsonObject[] = [];
  let next: string | undefined;
  do {
    const page = next === undefined ? { ...request, query: { size: '1000', ...request.query } } : { path: next };
    const { body } = await api.send({ method: 'GET', ...page });
    if (!isJsonObject(body)) return items;
    const { items: found, next: following } = body;
    if (isJsonArray(found)) items.push(...found.filter(isJsonObject));
    next = typeof following === 'string' ? following : undefined;
  } while (next !== undefined);
  return items;
}

/** The items of one page of a list. */
export async function listPage(api: ApiClient, request: Omit<ApiRequest, 'method'>): Promise<readonly JsonObject[]> {
  const { body } = await api.send({ method: 'GET', ...request });
  const items = isJsonObject(body) ? body['items'] : undefined;
  return isJsonArray(items) ? items.filter(isJsonObject) : [];
}
