import { isJsonObject } from '@causeway/resources';

/** Parts of a request that REST reads; a Fastify request has them, and tests build them. */
export interface RestRequest {
  /** Id, as in `X-Request-Id` of the answer. */
  readonly id?: string;
  readonly method: string;
  readonly url: string;
  readonly params: unknown;
  readonly query: unknown;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body?: unknown;
  /** Connection, with the address of the client. */
  readonly socket: {
    readonly remoteAddress?: string | undefined;
    readonly encrypted?: boolean;
  };
}

/** Returns the value of a path parameter; a router always sets it. */
export function pathParameter(request: RestRequest, name: string): string {
  const value = isJsonObject(request.params) ? request.params[name] : undefined;
  return typeof value === 'string' ? value : '';
}

/** Returns a header; several of one name are joined as in RFC 9110. */
export function header(request: RestRequest, name: string): string | undefined {
  const value = request.headers[name];
  return typeof value === 'string' || value === undefined ? value : value.join(', ');
}
