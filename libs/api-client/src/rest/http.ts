import { Agent as PlainAgent, request as plainRequest, type IncomingMessage } from 'node:http';
import { Agent as TlsAgent, request as tlsRequest } from 'node:https';
import { text as textOf } from 'node:stream/consumers';
import { isJsonObject, type JsonObject, type JsonValue } from '@causeway/resources';
import { ApiError, type ApiErrorCode, type Connection } from '../api-client';

/** One request; `body` is JSON lines where it is a list. */
export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly query?: Readonly<Record<string, string | undefined>>;
  readonly body?: JsonObject | readonly JsonObject[];
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

/** HTTP of one control plane, over connections that are kept. Every refusal is an ApiError. */
export class Http {
  private readonly agent: PlainAgent | TlsAgent;

  constructor(private readonly connection: Connection) {
    const { server, ca, insecure = false } = connection;
    const trust = { rejectUnauthorized: !insecure, ...(ca === undefined ? {} : { ca }) };
    this.agent =
      server.protocol === 'https:' ? new TlsAgent({ keepAlive: true, ...trust }) : new PlainAgent({ keepAlive: true });
  }

  /** The body of an answer as JSON, and its headers. */
  async json(
    request: HttpRequest,
  ): Promise<{ readonly body: JsonObject; readonly headers: IncomingMessage['headers'] }> {
    const response = await this.open(request);
    const body = parse(await textOf(response).catch((error: unknown) => unreachable(error)));
    return { body: isJsonObject(body) ? body : {}, headers: response.headers };
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
      unreachable(error);
    }
    if (rest !== '') yield rest;
  }

  close(): void {
    this.agent.destroy();
  }

  private async open(request: HttpRequest): Promise<IncomingMessage> {
    const response = await this.send(request).catch((error: unknown) => unreachable(error));
    const { statusCode = 0 } = response;
    if (statusCode < 400) return response;
    throw problemError(statusCode, parse(await textOf(response)));
  }

  private send({ method, path, query = {}, body, headers = {}, signal }: HttpRequest): Promise<IncomingMessage> {
    const { server, token } = this.connection;
    // Below the path of the server. Of an absolute URL (the next page) path and query count: no other host gets the token.
    const { origin, pathname: base } = server;
    const { pathname, search } = new URL(path, origin);
    const url = new URL(base.replace(/\/$/, '') + pathname + search, origin);
    for (const [key, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(key, value);
    const isList = Array.isArray(body);
    const text = isList ? body.map((one) => JSON.stringify(one)).join('\n') : body && JSON.stringify(body);
    const type = isList ? 'application/x-ndjson' : 'application/json';
    const options = {
      ...{ method, agent: this.agent },
      headers: {
        ...headers,
        ...(text === undefined ? {} : { 'content-type': type }),
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      },
      ...(signal ? { signal } : {}),
    };
    return new Promise((resolve, reject) => {
      const request = server.protocol === 'https:' ? tlsRequest(url, options) : plainRequest(url, options);
      request.once('response', resolve).once('error', reject).end(text);
    });
  }
}

/** The error of a problem document. */
export function problemError(statusCode: number, problem: unknown): ApiError {
  const { title, detail, invalid_parameters: listed } = isJsonObject(problem) ? problem : {};
  const message = typeof detail === 'string' ? detail : typeof title === 'string' ? title : `status ${statusCode}`;
  const violations = (Array.isArray(listed) ? listed : []).flatMap((one: JsonValue) => {
    if (!isJsonObject(one)) return [];
    const { field, reason } = one;
    return typeof field === 'string' && typeof reason === 'string' ? [{ field, reason }] : [];
  });
  return new ApiError(CODES[statusCode] ?? 'internal', message, violations);
}

/** Throws what a failed connection is. */
function unreachable(error: unknown): never {
  throw error instanceof ApiError
    ? error
    : new ApiError('unavailable', error instanceof Error ? error.message : String(error), [], { cause: error });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}
