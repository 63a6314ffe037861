import { identityKey, type Identity, type ResourceKey } from '@causeway/resources';
import { type Frontend, consumerGroup, type FrontendGroup } from '@causeway/routing';
import type { Fold } from '../fold/fold';
import type { Policy } from '../model/policy';
import { createContext, type Context } from '../table/contexts';
import { findConsumers, lowerPolicies, standing, upperPolicies, type Carriers } from '../table/kind-policies';
import type { KindTable } from '../table/kind-table';
import { listContexts } from '../table/node-contexts';
import { frontendNode, meshNode, meshOfNode, namespaceNode, routeNode, type Node } from '../table/nodes';
import type { LowerPath } from '../table/hierarchy-paths';

/** A path from a Mesh to where a kind takes effect, and the policies that meet on it. */
export interface PolicyPath {
  /** Equal for the same path before and after a change of policies. */
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
  /** The Namespace above; empty if the path ends at a Mesh. */
  readonly namespace: string;
  /** Undefined if no frontend is on the path: it ends at a Mesh or a Namespace, or is of a virtual object. */
  readonly context: Context | undefined;
}

/** A frontend's key, the frontend where there is one, and a group. */
type PathContext = readonly [key: ResourceKey, frontend: Frontend | undefined, group: FrontendGroup];

/** Returns the effective policy on a path; undefined if there are no policies. */
export const foldPath = ({ policies }: KindTable, path: Pick<PolicyPath, 'policies'>): Fold | undefined =>
  policies.folds.of(path.policies);

/**
 * The paths of a kind on which an object stands (a Mesh: all below it), each once, with the policies of `carriers`, those without
 * policies too. Linear in the paths below the object.
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
  // Of external services too, which routes do not know.
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
 * The paths below the nodes, with the policies of `carriers`; of virtual objects a path of themselves. Each once. Of contexts that are
 * `whole` all paths.
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

/** The path of an object of which nothing but its name is known: it stands alone. */
export function virtualPath(node: Node, carriers: Carriers): PolicyPath {
  const mesh = node.id?.mesh ?? '';
  const policies = standing(carriers, node, { consumer: undefined });
  const { key, namespace } = node;
  return { key, mesh, namespace, policies, nodes: [node], lower: [node], group: 'virtual', context: undefined };
}

/** All paths below a Mesh, or below one Namespace of it. */
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

/** Of kinds that take effect at a Mesh or at Namespaces. */
function* placePaths(kind: KindTable, carriers: Carriers, mesh: string, namespace?: string): Generator<PolicyPath> {
  const { hierarchyPaths, targetIndex } = kind.policies;
  const namespaces = hierarchyPaths.has('Namespace') ? targetIndex.objects.listNamespaces(mesh) : [''];
  for (const name of namespaces) {
    if (namespace !== undefined && name !== namespace && name !== '') continue;
    yield buildPath(kind, carriers, { mesh, namespace: name }, []);
  }
}

/** The contexts in which a node may be, those that policies of `carriers` make included. */
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

/** The paths of contexts, each once; a context that does not exist has none. */
function* pathsOfContexts(kind: KindTable, carriers: Carriers, all: Iterable<PathContext>): Generator<PolicyPath> {
  const seen = new Set<string>();
  for (const [key, frontend, group] of all) {
    const name = `${key} ${group}`;
    if (!frontend || seen.has(name)) continue;
    seen.add(name);
    yield* pathsOfContext(kind, carriers, createContext(frontend, group));
  }
}

/** The paths of one context with the policies of `carriers`; none where it does not exist. */
function* pathsOfContext(kind: KindTable, carriers: Carriers, context: Context): Generator<PolicyPath> {
  const { hierarchyPaths, targetIndex } = kind.policies;
  const { frontend, group } = context;
  const borrowed = isBorrowed(kind, carriers, context);
  if (!borrowed && !kind.contexts.at(frontend.key, group)) return;
  for (const lower of hierarchyPaths.listPaths(context, targetIndex.routes, borrowed))
    yield buildPath(kind, carriers, context, lower);
}

/** Whether policies alone give the clients of one namespace a view of their own. */
export function isBorrowed({ policies }: KindTable, carriers: Carriers, { consumer, frontend }: Context): boolean {
  const { hierarchyPaths, targetIndex } = policies;
  return (
    consumer !== undefined && findConsumers(carriers, hierarchyPaths, frontend, targetIndex.routes).includes(consumer)
  );
}

/** A path with the Mesh and Namespace above it, as far as the kind has them. `place` is its context, where it has one. */
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

/** The policies of a path in a context that may be another one than its own. */
export function policiesAt(
  carriers: Carriers,
  place: Pick<Context, 'mesh' | 'namespace'>,
  lower: LowerPath,
  context: Pick<Context, 'consumer'> = { consumer: undefined },
): readonly Policy[] {
  return [...upperPolicies(carriers, place), ...lowerPolicies(carriers, context, lower)];
}
