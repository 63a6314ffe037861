import { identityKey, type Identity, type ResourceKey } from '@causeway/resources';
import { type Frontend, consumerGroup, type FrontendGroup } from '@causeway/routing';
import type { Fold } from '../fold/fold';
import type { Policy } from '../model/policy';
import { createContext, type Context } from '../table/contexts';
import { findConsumers, lowerPolicies, listApplying, upperPolicies, type Carriers } from '../table/kind-policies';
import type { KindTable } from '../table/kind-table';
import { listContexts } from '../table/node-contexts';
import { frontendNode, meshNode, meshOfNode, namespaceNode, routeNode, type Node } from '../table/nodes';
import type { LowerPath } from '../table/hierarchy-paths';

/** A path from a Mesh to the level at which a kind takes effect, and the policies on it. */
export interface PolicyPath {
  /** Equal before and after a change of policies. */
  readonly key: string;
  /** The least specific first. */
  readonly nodes: readonly Node[];
  /**
   * Group of the requests: `producer`, `consumer:<namespace>`, `gateway:<namespace>/<name>`; `backend` if no route is
   * on the path.
   */
  readonly group: FrontendGroup | 'virtual' | 'place';
  /** The least specific first, the older first on one node. */
  readonly policies: readonly Policy[];
  /** The nodes below Mesh and Namespace. */
  readonly lower: LowerPath;
  readonly mesh: string;
  /** The Namespace on the path; empty if the path ends at a Mesh. */
  readonly namespace: string;
  /** Undefined if the path has no frontend: it ends at a Mesh or Namespace, or belongs to a virtual object. */
  readonly context: Context | undefined;
}

/** The key of a frontend, the frontend if it exists, and a group. */
type PathContext = readonly [key: ResourceKey, frontend: Frontend | undefined, group: FrontendGroup];

/** Returns the effective policy on a path; undefined if there are no policies. */
export const foldPath = ({ policies }: KindTable, path: Pick<PolicyPath, 'policies'>): Fold | undefined =>
  policies.folds.of(path.policies);

/**
 * Yields the paths of a kind that contain an object (for a Mesh: all below it), each once, with the policies of
 * `carriers`, including paths without policies. Linear in the paths below the object.
 */
export function* pathsAt(kind: KindTable, object: Identity, carriers: Carriers): Generator<PolicyPath> {
  if (object.kind === 'Mesh') {
    yield* pathsBelow(kind, carriers, object.name);
    return;
  }
  if (object.kind === 'Namespace') {
    yield* pathsBelow(kind, carriers, object.mesh, object.name);
    return;
  }
  const { targetIndex } = kind.policies;
  const key = identityKey(object);
  // Includes external services, which routing does not know.
  const frontend = targetIndex.frontend(object);
  const route = targetIndex.routes.route(key);
  const nodes = frontend
    ? (['Service', 'Backend'] as const).map((level) => frontendNode(level, frontend))
    : route
      ? [routeNode('Route', route)]
      : [];
  for (const path of pathsOfContexts(kind, carriers, contextsAround(kind, carriers, nodes))) {
    if (path.nodes.some(({ id }) => id && identityKey(id) === key)) yield path;
  }
}

/**
 * Yields the paths below the nodes, each once, with the policies of `carriers`; a virtual object has a path of its own.
 * For contexts in `whole`, yields all their paths.
 */
export function* pathsBelowNodes(
  kind: KindTable,
  nodes: readonly Node[],
  carriers: Carriers,
  whole: (context: Context) => boolean = () => false,
): Generator<PolicyPath> {
  const seen = new Set<string>();
  const lower = nodes.filter(({ level }) => level !== 'Mesh' && level !== 'Namespace' && level !== 'Virtual');
  const keys = new Set(lower.map(({ key }) => key));
  for (const path of pathsOfContexts(kind, carriers, contextsAround(kind, carriers, lower))) {
    const isBelow = path.nodes.some(({ key }) => keys.has(key));
    if (!isBelow && !(path.context && whole(path.context))) continue;
    seen.add(path.key);
    yield path;
  }
  for (const node of nodes) {
    if (node.level === 'Virtual') yield virtualPath(node, carriers);
    if (node.level !== 'Mesh' && node.level !== 'Namespace') continue;
    const mesh = meshOfNode(node);
    const below = node.level === 'Namespace' ? node.namespace : undefined;
    for (const path of pathsBelow(kind, carriers, mesh, below)) {
      if (seen.has(path.key)) continue;
      seen.add(path.key);
      yield path;
    }
  }
}

/** Returns the path of a virtual object, which has no parents. */
export function virtualPath(node: Node, carriers: Carriers): PolicyPath {
  const mesh = node.id?.mesh ?? '';
  const policies = listApplying(carriers, node, { consumer: undefined });
  const { key, namespace } = node;
  return { key, mesh, namespace, policies, nodes: [node], lower: [node], group: 'virtual', context: undefined };
}

/** Yields all paths below a Mesh, or below one Namespace of it. */
function* pathsBelow(kind: KindTable, carriers: Carriers, mesh: string, namespace?: string): Generator<PolicyPath> {
  const { policies, contexts, scopes } = kind;
  if (policies.hierarchyPaths.side === 'place') {
    yield* placePaths(kind, carriers, mesh, namespace);
    return;
  }
  yield* pathsOfContexts(kind, carriers, all());
  function* all(): Generator<PathContext> {
    for (const { frontend, group } of contexts.below(mesh, namespace)) yield [frontend.key, frontend, group];
    for (const { frontend, group } of scopes.madeByPolicies(mesh, namespace)) yield [frontend.key, frontend, group];
  }
}

/** Yields the paths of kinds that take effect at a Mesh or Namespace. */
function* placePaths(kind: KindTable, carriers: Carriers, mesh: string, namespace?: string): Generator<PolicyPath> {
  const { hierarchyPaths, targetIndex } = kind.policies;
  const namespaces = hierarchyPaths.has('Namespace') ? targetIndex.objects.listNamespaces(mesh) : [''];
  for (const name of namespaces) {
    if (namespace !== undefined && name !== namespace && name !== '') continue;
    yield buildPath(kind, carriers, { mesh, namespace: name }, []);
  }
}

/** Yields the contexts that may contain a node, including those that policies of `carriers` create. */
function* contextsAround(
  { policies, scopes }: KindTable,
  carriers: Carriers,
  nodes: readonly Node[],
): Generator<PathContext> {
  for (const node of nodes) {
    for (const at of listContexts(node, policies, scopes)) {
      yield at;
      const [key, frontend] = at;
      if (!frontend) continue;
      for (const namespace of findConsumers(carriers, policies.hierarchyPaths, frontend, policies.targetIndex.routes)) {
        yield [key, frontend, consumerGroup(namespace)];
      }
    }
  }
}

/** Yields the paths of contexts, each once; a nonexistent context has none. */
function* pathsOfContexts(kind: KindTable, carriers: Carriers, all: Iterable<PathContext>): Generator<PolicyPath> {
  const seen = new Set<string>();
  for (const [key, frontend, group] of all) {
    const name = `${key} ${group}`;
    if (!frontend || seen.has(name)) continue;
    seen.add(name);
    yield* pathsOfContext(kind, carriers, createContext(frontend, group));
  }
}

/** Yields the paths of one context with the policies of `carriers`; none if it does not exist. */
function* pathsOfContext(kind: KindTable, carriers: Carriers, context: Context): Generator<PolicyPath> {
  const { hierarchyPaths, targetIndex } = kind.policies;
  const { frontend, group } = context;
  const borrowed = isBorrowed(kind, carriers, context);
  if (!borrowed && !kind.contexts.at(frontend.key, group)) return;
  for (const lower of hierarchyPaths.listPaths(context, targetIndex.routes, borrowed))
    yield buildPath(kind, carriers, context, lower);
}

/** Returns whether only policies, not routes, create the view of one namespace's clients. */
export function isBorrowed({ policies }: KindTable, carriers: Carriers, { consumer, frontend }: Context): boolean {
  const { hierarchyPaths, targetIndex } = policies;
  return (
    consumer !== undefined && findConsumers(carriers, hierarchyPaths, frontend, targetIndex.routes).includes(consumer)
  );
}

/** Builds a path with the Mesh and Namespace above it, if the kind has these levels. `place` is its context, if it has one. */
function buildPath(
  { policies: { hierarchyPaths } }: KindTable,
  carriers: Carriers,
  place: Context | Pick<Context, 'mesh' | 'namespace'>,
  lower: LowerPath,
): PolicyPath {
  const { mesh, namespace } = place;
  const context = 'frontend' in place ? place : undefined;
  const group = context?.group ?? 'place';
  const nodes = [
    ...(hierarchyPaths.has('Mesh') ? [meshNode(mesh)] : []),
    ...(hierarchyPaths.has('Namespace') ? [namespaceNode(mesh, namespace)] : []),
    ...lower,
  ];
  const key = [mesh, namespace, group, ...lower.map((node) => node.key)].join('\n');
  return { key, nodes, group, lower, mesh, namespace, context, policies: policiesAt(carriers, place, lower, context) };
}

/** Returns the policies on a path in a context, which may differ from the path's own. */
export function policiesAt(
  carriers: Carriers,
  place: Pick<Context, 'mesh' | 'namespace'>,
  lower: LowerPath,
  context: Pick<Context, 'consumer'> = { consumer: undefined },
): readonly Policy[] {
  return [...upperPolicies(carriers, place), ...lowerPolicies(carriers, context, lower)];
}
