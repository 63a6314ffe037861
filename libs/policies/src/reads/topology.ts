import { identityKey, type Identity } from '@causeway/resources';
import type { Frontend } from '@causeway/routing';
import { levels } from '../model/levels';
import type { Policy } from '../model/policy';
import { createContext } from '../table/contexts';
import { meshNode, namespaceNode, type Node } from '../table/nodes';
import { HierarchyPaths } from '../table/hierarchy-paths';
import type { PolicyTable } from '../table/policy-table';

/** The graph of targets: which nodes policies can attach to, and which nodes inherit from which. */
export interface Topology {
  readonly nodes: ReadonlyMap<string, Node>;
  /** From the less to the more specific node, by key; each once. */
  readonly edges: readonly { readonly from: string; readonly to: string }[];
  /** True if the graph has more nodes than the limit. */
  readonly truncated: boolean;
}

const everything = new HierarchyPaths(levels);

/**
 * Reads the graph of a mesh, or the nodes on the paths of one object, with at most `most` nodes. Linear in the visited
 * paths; stops at the path that would exceed `most`.
 */
export class TopologyReader {
  private readonly nodes = new Map<string, Node>();
  private readonly edges = new Map<string, { readonly from: string; readonly to: string }>();
  private truncated = false;

  constructor(
    private readonly table: PolicyTable,
    private readonly most: number,
  ) {}

  /** Reads one frontend per step. */
  *read(mesh: string, root?: Identity): Generator<undefined> {
    this.add([meshNode(mesh)]);
    for (const frontend of this.table.targetIndex.routes.frontends()) {
      if (frontend.id.mesh !== mesh) continue;
      this.addFrontend(frontend, root);
      if (this.truncated) return;
      yield;
    }
    if (!root || root.kind === 'Mesh') this.addVirtual(mesh);
  }

  get topology(): Topology {
    const { nodes, edges, truncated } = this;
    return { nodes, edges: [...edges.values()], truncated };
  }

  private addFrontend(frontend: Frontend, root: Identity | undefined): void {
    const { routes } = this.table.targetIndex;
    for (const group of everything.listGroups(frontend, routes)) {
      const context = createContext(frontend, group);
      for (const lower of everything.listPaths(context, routes, false)) {
        const path = [meshNode(context.mesh), namespaceNode(context.mesh, context.namespace), ...lower];
        if (root && !path.some((node) => isSameNode(node, root))) continue;
        this.add(path);
        if (this.truncated) return;
      }
    }
  }

  /** Adds virtual targets as separate nodes. */
  private addVirtual(mesh: string): void {
    for (const { policies } of this.table.all()) {
      for (const node of policies.attachments.nodes()) {
        if (node.level === 'Virtual' && node.id?.mesh === mesh) this.add([node]);
      }
    }
  }

  private add(path: readonly Node[]): void {
    const fresh = path.filter(({ key }) => !this.nodes.has(key)).length;
    if (this.nodes.size + fresh > this.most) {
      this.truncated = true;
      return;
    }
    path.forEach((node, i) => {
      this.nodes.set(node.key, node);
      const above = path[i - 1];
      if (above) this.edges.set(`${above.key}\n${node.key}`, { from: above.key, to: node.key });
    });
  }
}

function isSameNode(node: Node, root: Identity): boolean {
  if (root.kind === 'Mesh') return true;
  if (root.kind === 'Namespace') return node.level === 'Namespace' && node.namespace === root.name;
  return node.id !== undefined && identityKey(node.id) === identityKey(root);
}

/** Returns the policies of all kinds on a node, by kind. Linear in the kinds. */
export function policiesOnNode(table: PolicyTable, { key }: Node): readonly Policy[] {
  return [...table.all()].flatMap(({ policies }) => policies.attachments.at(key));
}
