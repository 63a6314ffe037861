import { isJsonObject, type Kind, type Registry } from '@causeway/resources';
import { HttpError } from './http-error';
import { pathOf, unknownPath } from './paths';
import { QueryReader, type RestQueryParameter, type RawQuery } from './query-reader';

/** What the endpoints need of a request; a Fastify request is one. */
export interface RestRequest {
  readonly method: string;
  readonly url: string;
  readonly params: unknown;
  readonly query: unknown;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body?: unknown;
  /** The connection: who is at the other end, and the port of this server. */
  readonly socket: { readonly remoteAddress?: string | undefined; readonly localPort?: number | undefined };
}

/** The value of a path parameter; a router always gives it. */
export function pathParameter(call: RestRequest, name: string): string {
  const value = isJsonObject(call.params) ? call.params[name] : undefined;
  return typeof value === 'string' ? value : '';
}

/** A header, several of the name joined as RFC 9110 says. */
export function header(call: RestRequest, name: string): string | undefined {
  const value = call.headers[name];
  return typeof value === 'string' || value === undefined ? value : value.join(', ');
}

/** The query of a call against the parameters that its endpoint knows. */
export function queryOf(call: RestRequest, known: readonly RestQueryParameter[]): QueryReader {
  const raw: RawQuery = {};
  return new QueryReader(Object.assign(raw, call.query), known);
}

/** The kind and mesh that stand in the path; `mesh` is absent in a path over all meshes. */
export interface KindInPath {
  readonly kind: Kind;
  readonly mesh: string | undefined;
}

/** Where the path of a call points; throws 404 where no kind of that scope is. `one` means a single resource. */
export function kindInPath(call: RestRequest, registry: Registry, one: boolean): KindInPath {
  const plural = pathParameter(call, 'plural');
  const mesh = isJsonObject(call.params) && 'mesh' in call.params ? pathParameter(call, 'mesh') : undefined;
  const kind = registry.noun(plural);
  const scope = mesh !== undefined ? 'mesh' : one ? 'global' : kind?.scope;
  if (kind?.plural === plural && kind.scope === scope) return { kind, mesh };
  throw new HttpError(404, unknownPath(pathOf(call.url), registry));
}
