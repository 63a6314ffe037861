import { isJsonObject, type Registry } from '@causeway/resources';
import { HttpError } from './http-error';
import { pathOf, unknownPath } from './paths';

/** A route as the router has it; `path` has `:name` parameters. */
export interface RegisteredRoute {
  readonly path: string;
  readonly methods: readonly string[];
}

interface Route {
  readonly methods: Set<string>;
  readonly segments: readonly string[];
}

/**
 * The routes that were registered, for what a router does not say: that a path exists for other methods (405 with
 * Allow), and which path may have been meant (404).
 */
export class RouteTable {
  private readonly routes = new Map<string, Route>();

  constructor(private readonly registry: Registry) {}

  /** Notes a route; `path` has `:name` parameters. */
  add(methods: string | readonly string[], path: string): void {
    const route = this.routes.get(path) ?? { methods: new Set<string>(), segments: segmentsOf(path) };
    for (const method of typeof methods === 'string' ? [methods] : methods) route.methods.add(method);
    this.routes.set(path, route);
  }

  /** Every route with its methods. */
  list(): readonly RegisteredRoute[] {
    return [...this.routes].map(([path, { methods }]) => ({ path, methods: [...methods].sort() }));
  }

  /** False when a generic route was taken by a path whose `:plural` is no kind's; true for every other route. */
  hasKnownKind(params: unknown): boolean {
    const plural = isJsonObject(params) ? params['plural'] : undefined;
    return plural === undefined || (typeof plural === 'string' && this.registry.noun(plural)?.plural === plural);
  }

  /** What to answer a request that no route took. */
  notFoundOrMethodNotAllowed(method: string, url: string): HttpError {
    const allowed = this.allowedFor(url);
    if (allowed.length === 0) return new HttpError(404, unknownPath(pathOf(url), this.registry));
    const allow = allowed.join(', ');
    return new HttpError(405, `${method} is not possible here; this path takes ${allow}.`, { headers: { allow } });
  }

  /** The methods that the path of a URL takes, sorted; empty for a path that nobody serves. */
  allowedFor(url: string): readonly string[] {
    const segments = segmentsOf(pathOf(url));
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
    const kind = this.registry.kinds.find((candidate) => candidate.plural === plural);
    if (!kind) return false;
    const inMesh = segments[0] === 'meshes' && segments.length >= 3;
    return inMesh ? kind.scope === 'mesh' : kind.scope === 'global' || segments.length === 1;
  }
}

function segmentsOf(path: string): string[] {
  const trimmed = path.length > 1 && path.endsWith('/') ? path.slice(1, -1) : path.slice(1);
  return trimmed.split('/');
}
