import { AppMeshTable, membershipConflict, type Compiled, type VirtualSource } from '@causeway/appmesh';
import type { ReachableFrontends, SourceKind } from '@causeway/appmesh/testing';
import { identityKey, type Condition, type Identity, type JsonObject, type Labels } from '@causeway/resources';

type Place = Partial<Pick<Identity, 'mesh' | 'zone'>>;

/** Writes nodes, routers, services and Dataplanes as `namespace/name` into a table, each younger than the one before. */
export class AppMesh {
  readonly table = new AppMeshTable();
  private order = 0;

  /** Puts a resource; an existing one keeps its age. */
  put(kind: SourceKind, name: string, spec: JsonObject, place: Place = {}): this {
    const id = idOf(kind, name, place);
    const key = identityKey(id);
    const creationOrder = this.ages.get(key) ?? (this.order += 1);
    this.ages.set(key, creationOrder);
    this.table.put(asSource({ id, creationOrder, generation: 1, spec, kind }));
    return this;
  }

  remove(kind: SourceKind, name: string, place: Place = {}): this {
    const id = idOf(kind, name, place);
    this.ages.delete(identityKey(id));
    this.table.remove(id);
    return this;
  }

  member(name: string, labels: Labels, more: { readonly boundTo?: string } = {}): this {
    this.table.putMember({ id: idOf('Dataplane', name, { zone: 'east' }), labels, ...more });
    return this;
  }

  /** The nodes that select a Dataplane which is not in the table, as `namespace/name` in order, and why it is refused. */
  selecting(name: string, labels: Labels): { readonly nodes: readonly string[]; readonly refusal: string | undefined } {
    const id = idOf('Dataplane', name, { zone: 'east' });
    const nodes = this.table.nodesSelecting({ id, labels });
    return {
      nodes: nodes.map((node) => `${node.namespace}/${node.name}`).sort(),
      refusal: membershipConflict(id, nodes),
    };
  }

  /** Returns the node of a Dataplane as `namespace/name`; empty if it has none. */
  nodeOf(name: string): string {
    const binding = this.table.binding(idOf('Dataplane', name, { zone: 'east' }));
    return binding ? `${binding.namespace}/${binding.name}` : '';
  }

  reachable(name: string): ReachableFrontends | undefined {
    return this.table.binding(idOf('Dataplane', name, { zone: 'east' }))?.backends;
  }

  compiled(kind: SourceKind, name: string, place: Place = {}): Compiled {
    const found = this.table.compile(identityKey(idOf(kind, name, place)));
    if (!found) throw new Error(`there is no ${kind} ${name}`);
    return found;
  }

  /** Returns the rules of a kind that a VirtualService becomes. */
  rules(name: string, kind: string): Compiled['rules'] {
    return this.compiled('VirtualService', name).rules.filter(({ id }) => id.kind === kind);
  }

  condition(kind: SourceKind, name: string, type: string, place: Place = {}): Condition | undefined {
    return this.compiled(kind, name, place).conditions.find((condition) => condition.type === type);
  }

  private readonly ages = new Map<string, number>();
}

function idOf(kind: string, text: string, { mesh = 'm', zone = '' }: Place): Identity {
  const [namespace = '', name = ''] = text.split('/');
  return { kind, mesh, zone, namespace, name };
}

/** The spec is as good as its test writes it. */
function asSource(
  stored: Omit<VirtualSource, 'kind' | 'spec'> & { readonly kind: SourceKind; readonly spec: JsonObject },
): VirtualSource {
  const source: unknown = stored;
  return source as VirtualSource;
}
