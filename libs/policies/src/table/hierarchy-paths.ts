import {
  looksIntoRequests,
  portKey,
  PRODUCER,
  type Binding,
  type CompiledRoute,
  type CompiledRule,
  type Frontend,
  type BindingTable,
  isGatewayGroup,
  OWN_BACKEND,
  gatewayGroup,
  type FrontendGroup,
} from '@causeway/routing';
import type { Level } from '../model/levels';
import { findFallbackGroup, type Context } from './contexts';
import { frontendNode, implicitNode, routeNode, type Node } from './nodes';

/** The nodes of a path below Mesh and Namespace, the least specific first. */
export type LowerPath = readonly Node[];

/** The paths that the levels of a kind define. Kinds with the same levels share one. */
export class HierarchyPaths {
  readonly key: string;
  /** `place`: paths end at a Mesh or Namespace; `backend`: at services, without routes; `route`: at or below frontends. */
  readonly side: 'place' | 'backend' | 'route';
  private readonly known: ReadonlySet<Level>;

  constructor(readonly levels: readonly Level[]) {
    this.key = levels.join('>');
    this.known = new Set(levels);
    const has = (...some: readonly Level[]): boolean => some.some((level) => this.known.has(level));
    if (has('Gateway', 'Listener', 'Service', 'ServicePort', 'Route', 'Rule')) this.side = 'route';
    else this.side = has('Backend', 'BackendPort') ? 'backend' : 'place';
  }

  has(level: Level): boolean {
    return this.known.has(level);
  }

  /** Returns whether a service has paths of these levels, so that clients of one namespace may have a view of their own. Gateways have none. */
  hasPathsOf({ id }: Frontend): boolean {
    if (id.kind === 'Gateway' || this.side === 'place') return false;
    return this.side === 'backend' || this.has('Service') || this.has('ServicePort');
  }

  /** Returns the groups of a frontend that are contexts of these levels, sorted. A headless service has implicit routes only. */
  listGroups(frontend: Frontend, routes: BindingTable): readonly FrontendGroup[] {
    const isGateway = frontend.id.kind === 'Gateway';
    if (this.side === 'backend') return isGateway ? [] : [OWN_BACKEND];
    if (this.side === 'place') return [];
    if (isGateway) {
      return this.has('Gateway') || this.has('Listener')
        ? [gatewayGroup(`${frontend.namespace}/${frontend.id.name}`)]
        : [];
    }
    if (!this.hasPathsOf(frontend)) return [];
    return [PRODUCER, ...routes.listGroups(frontend).filter((group) => group !== PRODUCER && !isGatewayGroup(group))];
  }

  /**
   * Returns all paths of a context, each once, by port, route and rule. `borrowed`: only policies created the context,
   * so the producer's routes apply where the consumer has none. Linear in the routes bound there.
   */
  listPaths(context: Context, routes: BindingTable, borrowed: boolean): LowerPath[] {
    const found = new Map<string, LowerPath>();
    const add = (nodes: LowerPath): void => {
      const path = nodes.filter(({ level }) => level !== 'Virtual' && this.known.has(level));
      found.set(path.map(({ key }) => key).join('\n'), path);
    };
    if (this.side === 'backend') this.backendPaths(context.frontend, add);
    else this.routePaths(context, { routes, borrowed }, add);
    return [...found.values()];
  }

  /**
   * Returns the number of paths of a context that no policy created; equal to the result of `listPaths`, for most kinds
   * without building them.
   */
  count(context: Context, routes: BindingTable): number {
    const { frontend, group } = context;
    if (this.side === 'backend') return this.has('BackendPort') ? frontend.ports.length : 1;
    const isOfRules = this.has('ServicePort') && this.has('Rule') && !this.has('Backend') && !this.has('BackendPort');
    if (!isOfRules || isGatewayGroup(group)) return this.listPaths(context, routes, false).length;
    let count = 0;
    for (const { port } of frontend.ports) {
      const bindings = bindingsAt(routes, { frontend, group, borrowed: false }, port);
      if (bindings === 'implicit') count += 1;
      else for (const binding of bindings) count += countRules(binding);
    }
    return count;
  }

  private backendPaths(frontend: Frontend, add: (nodes: LowerPath) => void): void {
    const backend = frontendNode('Backend', frontend);
    if (!this.has('BackendPort')) return add([backend]);
    for (const { port } of frontend.ports) add([backend, frontendNode('BackendPort', frontend, port)]);
  }

  private routePaths(
    { frontend, group }: Context,
    { routes, borrowed }: { readonly routes: BindingTable; readonly borrowed: boolean },
    add: (nodes: LowerPath) => void,
  ): void {
    const isGateway = isGatewayGroup(group);
    const top = frontendNode(isGateway ? 'Gateway' : 'Service', frontend);
    const endsAbove = !(['Route', 'Rule', 'Backend', 'BackendPort'] as const).some((level) => this.has(level));
    const needsPort = this.has(isGateway ? 'Listener' : 'ServicePort');
    if (endsAbove && !needsPort) return add([top]);
    for (const { port, name } of frontend.ports) {
      const section = isGateway
        ? frontendNode('Listener', frontend, name)
        : frontendNode('ServicePort', frontend, port);
      if (endsAbove) add([top, section]);
      else {
        const bindings = bindingsAt(routes, { frontend, group, borrowed }, port);
        if (bindings === 'implicit') this.implicitPath([top, section], frontend, port, add);
        else for (const binding of bindings) this.boundPaths([top, section], binding, routes, add);
      }
    }
  }

  private implicitPath(above: LowerPath, frontend: Frontend, port: number, add: (nodes: LowerPath) => void): void {
    const nodes = [...above, implicitNode('Route', frontend, port), implicitNode('Rule', frontend, port)];
    add(nodes.concat(frontendNode('Backend', frontend), frontendNode('BackendPort', frontend, port)));
  }

  private boundPaths(above: LowerPath, binding: Binding, routes: BindingTable, add: (nodes: LowerPath) => void): void {
    for (const [route, rule] of listRules(binding)) {
      const nodes = [...above, routeNode('Route', route), routeNode('Rule', route, rule.name)];
      if (!this.has('Backend') && !this.has('BackendPort')) add(nodes);
      else
        for (const [backend, port] of listBackends(binding, route, rule, routes)) {
          add([...nodes, frontendNode('Backend', backend), frontendNode('BackendPort', backend, port)]);
        }
    }
  }
}

/** Returns the bindings at a port of a context, or `implicit` if the service itself answers. */
function bindingsAt(
  routes: BindingTable,
  {
    frontend,
    group,
    borrowed,
  }: { readonly frontend: Frontend; readonly group: FrontendGroup; readonly borrowed: boolean },
  port: number,
): readonly Binding[] | 'implicit' {
  const of = (name: FrontendGroup): readonly Binding[] => {
    const { bindings } = routes.group(frontend, name);
    if (bindings.size === 0) return [];
    return [bindings.get(portKey('tcp', port)), bindings.get(portKey('udp', port))].filter((one) => one !== undefined);
  };
  const own = of(group);
  if (own.length > 0 || isGatewayGroup(group)) return own;
  if (group === PRODUCER) return 'implicit';
  if (!borrowed) return [];
  const lent = of(findFallbackGroup(group));
  return lent.length > 0 ? lent : 'implicit';
}

/** Returns whether a group of routing applies at a port: a consumer's does if it has a binding (T002-42). */
export function isBoundAt(routes: BindingTable, frontend: Frontend, group: FrontendGroup, port: number): boolean {
  const { bindings } = routes.group(frontend, group);
  return bindings.has(portKey('tcp', port)) || bindings.has(portKey('udp', port));
}

/** Yields the rules that get requests: for a kind without request matching only the first rule of the oldest route. */
function* listRules({ kind, routes }: Binding): Generator<readonly [CompiledRoute, CompiledRule]> {
  const all = looksIntoRequests(kind);
  for (const route of all ? routes : routes.slice(0, 1)) {
    for (const rule of all ? route.rules : route.rules.slice(0, 1)) yield [route, rule];
  }
}

/** Returns how many rules get requests, counting each route name once. */
function countRules({ kind, routes }: Binding): number {
  if (!looksIntoRequests(kind)) return Math.min(routes[0]?.rules.length ?? 0, 1);
  return routes.reduce(
    (sum, { rules }) => sum + (rules.length < 2 ? rules.length : new Set(rules.map(({ name }) => name)).size),
    0,
  );
}

/** Yields the destinations of a rule, without those that do not resolve or have weight 0. */
function* listBackends(
  { port, group }: Binding,
  route: CompiledRoute,
  { rule }: CompiledRule,
  routes: BindingTable,
): Generator<readonly [Frontend, number]> {
  for (const ref of rule.backendRefs ?? []) {
    if ((ref.weight ?? 1) <= 0) continue;
    const resolved = routes.backend(route, ref, port, group);
    if (!resolved.ok) continue;
    for (const id of resolved.destination.services) {
      const backend = routes.frontend(id);
      if (backend) yield [backend, resolved.destination.port];
    }
  }
}
