import { PRODUCER, type Frontend, type BindingTable } from '@causeway/routing';
import { compareText } from '@causeway/resources';
import { Fold, type FoldRoot } from '../fold/fold';
import type { PolicyDefinition } from '../model/definition';
import type { Policy } from '../model/policy';
import { Attachments } from './attachments';
import { appliesIn, type Context } from './contexts';
import { meshNode, namespaceNode, sectionKey, type Node } from './nodes';
import { HierarchyPaths, type LowerPath } from './hierarchy-paths';
import type { TargetIndex } from './target-index';

/** Policies on nodes: those of a kind, or those that the kind would have after a change. */
export interface Carriers {
  readonly definition: PolicyDefinition;
  /** Returns the policies on a node, the older first. */
  at(nodeKey: string): readonly Policy[];
  has(nodeKey: string): boolean;
}

/** The policies of a kind on paths: which ones apply, in which order, and the merged result. */
export class KindPolicies {
  readonly attachments: Attachments;
  readonly hierarchyPaths: HierarchyPaths;
  readonly folds: FoldRoot = Fold.roots();

  constructor(
    readonly definition: PolicyDefinition,
    readonly targetIndex: TargetIndex,
  ) {
    this.attachments = new Attachments(definition, targetIndex);
    this.hierarchyPaths = new HierarchyPaths(definition.levels);
  }

  /** Returns the effective policy of a path, from the policies that pass the filter; undefined if there are none. */
  effective(context: Context, path: LowerPath, isIncluded?: (policy: Policy) => boolean): Fold | undefined {
    const all = policiesOn(this.attachments, context, path);
    return this.folds.of(isIncluded ? all.filter(isIncluded) : all);
  }

  /** Returns the namespaces that have a context at this frontend because one of their policies targets it or a route of it. Sorted. */
  listConsumers(frontend: Frontend): readonly string[] {
    return findConsumers(this.attachments, this.hierarchyPaths, frontend, this.targetIndex.routes);
  }
}

/** Returns the policies on a path, the least specific first. */
function policiesOn(carriers: Carriers, context: Context, path: LowerPath): Policy[] {
  return [...upperPolicies(carriers, context), ...lowerPolicies(carriers, context, path)];
}

/** Returns the policies on a path's Mesh and Namespace. */
export function upperPolicies(carriers: Carriers, { mesh, namespace }: Pick<Context, 'mesh' | 'namespace'>): Policy[] {
  const { levels } = carriers.definition;
  const found: Policy[] = [];
  if (levels.includes('Mesh')) found.push(...listApplying(carriers, meshNode(mesh), NOBODY));
  if (levels.includes('Namespace')) found.push(...listApplying(carriers, namespaceNode(mesh, namespace), NOBODY));
  return found;
}

const NOBODY = { consumer: undefined };

/** Returns the policies below a path's Namespace. */
export function lowerPolicies(carriers: Carriers, context: Pick<Context, 'consumer'>, path: LowerPath): Policy[] {
  return path.flatMap((node) => (carriers.has(node.key) ? listApplying(carriers, node, context) : []));
}

/** Returns the policies of one node that apply in a context; without merging, only the oldest. */
export function listApplying(carriers: Carriers, node: Node, context: Pick<Context, 'consumer'>): readonly Policy[] {
  const { crossNamespace, strategies } = carriers.definition;
  const all = carriers.at(node.key);
  const counted = all.filter((policy) => appliesIn(context, node, policy, crossNamespace));
  return strategies.includes('None') ? counted.slice(0, 1) : counted;
}

/** See `KindPolicies.listConsumers`. */
export function findConsumers(
  carriers: Carriers,
  hierarchyPaths: HierarchyPaths,
  frontend: Frontend,
  routes: BindingTable,
): readonly string[] {
  if (carriers.definition.crossNamespace !== 'ClientSide' || !hierarchyPaths.hasPathsOf(frontend)) return [];
  const found = new Set<string>();
  const addConsumers = (key: string, namespace: string): void => {
    for (const { id } of carriers.at(key)) if (id.namespace !== namespace) found.add(id.namespace);
  };
  const { key, namespace, ports } = frontend;
  const [whole, part] =
    hierarchyPaths.side === 'backend' ? (['Backend', 'BackendPort'] as const) : (['Service', 'ServicePort'] as const);
  addConsumers(sectionKey(whole, key), namespace);
  for (const { port } of ports) addConsumers(sectionKey(part, key, port), namespace);
  if (hierarchyPaths.side === 'route') {
    for (const { routes: bound } of routes.group(frontend, PRODUCER).bindings.values()) {
      for (const route of bound) {
        addConsumers(sectionKey('Route', route.key), route.id.namespace);
        for (const { name } of route.rules) addConsumers(sectionKey('Rule', route.key, name), route.id.namespace);
      }
    }
  }
  return [...found].sort(compareText);
}
