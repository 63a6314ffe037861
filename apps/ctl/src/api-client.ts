import { isJsonArray, isJsonObject, type JsonObject, type Violation } from '@causeway/resources';

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
}

export interface ApiRequest {
  readonly method: 'GET' | 'PUT' | 'POST' | 'DELETE';
  readonly path: string;
  readonly query?: Readonly<Record<string, string | undefined>>;
  readonly body?: unknown;
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
  constructor(
    private readonly server: URL,
    private readonly token: string | undefined,
  ) {}

  async send(request: ApiRequest): Promise<ApiAnswer> {
    const response = await this.open(request);
    const text = await response.text();
    const body: unknown = text === '' ? {} : parseJson(text);
    if (!response.ok) throw refusal(response.status, body, text);
    return { status: response.status, body, outcome: response.headers.get('causeway-outcome') ?? undefined };
  }

  /** The text of an answer that is not JSON. */
  async text(request: ApiRequest): Promise<string> {
    const response = await this.open(request);
    const text = await response.text();
    if (!response.ok) throw refusal(response.status, parseJson(text), text);
    return text;
  }

  /** The lines of a server-sent event stream, until it ends or `signal` aborts. */
  async *events(request: ApiRequest, signal: AbortSignal): AsyncIterable<string> {
    const response = await this.open(request, signal);
    if (!response.ok) throw refusal(response.status, {}, await response.text());
    const decoder = new TextDecoder();
    let rest = '';
    const chunks: AsyncIterable<Uint8Array> | readonly Uint8Array[] = response.body ?? [];
    for await (const chunk of chunks) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
      rest = lines.pop() ?? '';
      yield* lines;
    }
  }

  /** A URL below the path of the server. Of an absolute URL (the next page of a list) only path and query count. */
  private urlOf(path: string): URL {
    const { pathname, search } = new URL(path, this.server.origin);
    return new URL(this.server.pathname.replace(/\/$/, '') + pathname + search, this.server.origin);
  }

  private async open(request: ApiRequest, signal?: AbortSignal): Promise<Response> {
    const url = this.urlOf(request.path);
    for (const [key, value] of Object.entries(request.query ?? {}))
      if (value !== undefined) url.searchParams.set(key, value);
    const headers = new Headers({ accept: 'application/json' });
    if (request.body !== undefined) headers.set('content-type', 'application/json');
    if (this.token) headers.set('authorization', `Bearer ${this.token}`);
    const init = {
      method: request.method,
      headers,
      ...(request.body === undefined ? {} : { body: JSON.stringify(request.body) }),
      ...(signal ? { signal } : {}),
    };
    return fetch(url, init).catch((error: unknown) => {
      if (signal?.aborted) throw error;
      throw new ApiError(
        `cannot reach ${this.server.href.replace(/\/$/, '')}: is the control plane running? (--server or CAUSEWAY_SERVER names another)`,
        0,
      );
    });
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function refusal(status: number, body: unknown, text: string): ApiError {
  const problem: JsonObject = isProblem(body) ? body : {};
  const message = [problem['title'], problem['detail']].filter((part) => typeof part === 'string').join(': ');
  const listed = problem['invalid_parameters'];
  const violations = Array.isArray(listed) ? listed.flatMap(toViolation) : [];
  return new ApiError(message || `the server answered ${status} ${text.slice(0, 200)}`, status, violations);
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
