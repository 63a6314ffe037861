import { isJsonObject } from '@causeway/resources';

/** Parts of a request that REST reads; a Fastify request has them, and tests write them by hand. */
export interface RestRequest {
  /** As `X-Request-Id` of the answer says it. */
  readonly id?: string;
  readonly method: string;
  readonly url: string;
  readonly params: unknown;
  readonly query: unknown;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body?: unknown;
  /** The connection, and who is at the other end. */
  readonly socket: {
    readonly remoteAddress?: string | undefined;
    readonly encrypted?: boolean;
  };
}

/** The value of a path parameter; a router always gives it. */
export function pathParameter(request: RestRequest, name: string): string {
  const value = isJsonObject(request.params) ? request.params[name] : undefined;
  return typeof value === 'string' ? value : '';
}

/** A header, several of the name joined as RFC 9110 says. */
export function header(request: RestRequest, name: string): string | undefined {
  const value = request.headers[name];
  return typeof value === 'string' || value === undefined ? value : value.join(', ');
}
