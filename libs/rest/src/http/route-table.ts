import { isJsonObject, type Kind, type Registry } from '@causeway/resources';
import { HttpError, truncated } from './http-error';

/** A registered route; `path` has `:name` parameters. */
export interface RegisteredRoute {
  readonly path: string;
  readonly methods: readonly string[];
}

interface Route {
  readonly methods: Set<string>;
  readonly segments: readonly string[];
}

/**
 * Registered routes, for features that neither Fastify nor Nest has: 405 with Allow for a path that has other methods,
 * and a 404 that suggests a similar path.
 */
export class RouteTable {
  private readonly routes = new Map<string, Route>();

  constructor(
    private readonly registry: Registry,
    private readonly diagnosticsPort = DIAGNOSTICS_PORT,
  ) {}

  /** Adds a route; `path` has `:name` parameters. */
  add(methods: string | readonly string[], path: string): void {
    const route = this.routes.get(path) ?? { methods: new Set<string>(), segments: splitPath(path) };
    for (const method of typeof methods === 'string' ? [methods] : methods) route.methods.add(method);
    this.routes.set(path, route);
  }

  /** Lists every route with its methods. */
  list(): readonly RegisteredRoute[] {
    return [...this.routes].map(([path, { methods }]) => ({ path, methods: [...methods].sort() }));
  }

  /** False for a path that matched a generic route with an unknown `:plural`; true for other routes. */
  hasKnownKind(params: unknown): boolean {
    const plural = isJsonObject(params) ? params['plural'] : undefined;
    return plural === undefined || (typeof plural === 'string' && this.registry.collection(plural) !== undefined);
  }

  /** Returns the error for a request that no route matches: 405 if the path has other methods, else 404 with a suggestion. */
  notFoundOrMethodNotAllowed(method: string, url: string): HttpError {
    const allowed = this.allowedFor(url);
    const path = stripQuery(url);
    if (allowed.length === 0 && DIAGNOSTICS.includes(path))
      return new HttpError(
        404,
        `${path} is not at this port but at the diagnostics port, ${this.diagnosticsPort} here`,
      );
    if (allowed.length === 0) return new HttpError(404, unknownPath(path, this.registry));
    const allow = allowed.join(', ');
    return new HttpError(405, `${method} is not possible here; this path takes ${allow}.`, { headers: { allow } });
  }

  /** Returns the methods for the path of a URL, sorted; empty for an unknown path. */
  allowedFor(url: string): readonly string[] {
    const segments = splitPath(stripQuery(url));
    const found = [...this.routes.values()].filter((route) => this.matches(route, segments));
    const exact = found.filter((route) => route.segments.every((segment) => !segment.startsWith(':')));
    const methods = (exact.length > 0 ? exact : found).flatMap((route) => [...route.methods]);
    return [...new Set(methods)].sort();
  }

  private matches(route: Route, segments: readonly string[]): boolean {
    return (
      route.segments.length === segments.length &&
      route.segments.every((wanted, i) => {
        const segment = segments[i] ?? '';
        if (wanted === ':plural') return this.isKind(segment, segments);
        return wanted.startsWith(':') ? segment !== '' : wanted === segment;
      })
    );
  }

  private isKind(plural: string, segments: readonly string[]): boolean {
    const kind = this.registry.collection(plural)?.kind;
    if (!kind) return false;
    const inMesh = segments[0] === 'meshes' && segments.length >= 3;
    return inMesh ? kind.scope === 'mesh' : kind.scope === 'global' || segments.length === 1;
  }
}

function splitPath(path: string): string[] {
  const trimmed = path.length > 1 && path.endsWith('/') ? path.slice(1, -1) : path.slice(1);
  return trimmed.split('/');
}

/** Returns the REST path of a list or a resource of a kind: `/meshes/default/meshservices/redis`. */
function kindPath(kind: Kind, mesh: string, name?: string): string {
  const parts = [
    ...(kind.scope === 'mesh' && mesh !== '' ? ['meshes', mesh] : []),
    kind.plural,
    ...(name === undefined ? [] : [name]),
  ];
  return `/${parts.map((part) => encodeURIComponent(part)).join('/')}`;
}

/** Port of diagnostics where nothing else is set. */
const DIAGNOSTICS_PORT = 5_680;
/** Paths of the diagnostics port. */
const DIAGNOSTICS = ['/ready', '/healthy', '/metrics'];

/** Returns the detail of a 404, with the nearest path if there is one. */
export function unknownPath(whole: string, registry: Registry): string {
  const path = truncated(whole);
  const segments = path.split('/').filter((segment) => segment !== '');
  const inMesh = segments[0] === 'meshes' && segments.length > 2;
  const noun = (inMesh ? segments[2] : segments[0]) ?? '';
  const kind = registry.noun(noun);
  if (kind) return wrongScope(kind, inMesh, path);
  const guess = noun.length > 3 ? registry.suggestNoun(noun) : undefined;
  const plural = guess === undefined ? undefined : registry.noun(guess)?.plural;
  return `There is no path ${path}${plural === undefined ? '.' : `; did you mean "${plural}"?`} GET /_resources lists the kinds.`;
}

function wrongScope(kind: Kind, inMesh: boolean, path: string): string {
  if (kind.scope === 'mesh' && !inMesh)
    return `There is no path ${path}; a ${kind.name} belongs to a mesh: /meshes/{mesh}/${kind.plural}/{name}.`;
  if (kind.scope === 'global' && inMesh)
    return `There is no path ${path}; a ${kind.name} belongs to no mesh: /${kind.plural}/{name}.`;
  return `There is no path ${path}; the kind ${kind.name} is served under ${kindPath(kind, kind.scope === 'mesh' ? '{mesh}' : '')}.`;
}

/** Returns the path of a URL without query. */
export function stripQuery(url: string): string {
  const end = url.search(/[?#]/);
  return end < 0 ? url : url.slice(0, end);
}
