import { MetaresourceDefinition, servicePorts } from '@causeway/kinds';
import { PolicyTable, readDefinition, type PolicyChangeSet, type PolicyDefinition } from '@causeway/policies';
import { jsonEqual, Label, labelValue, type Identity, type Resource } from '@causeway/resources';
import { routeKinds, type ChangeSet, type BindingTable } from '@causeway/routing';
import type { IndexChange, IndexEvent, IndexReader } from '@causeway/store';
import { IndexedKinds } from '../declared-kinds';
import type { Meshes } from '../meshes';

/** Dependencies of a table of policies. */
export interface MeshPoliciesOptions {
  readonly index: Pick<IndexReader, 'ofKind' | 'getVersion'>;
  readonly meshes: Pick<Meshes, 'served'>;
}

const DEFINITIONS = 'MetaresourceDefinition';
/** Kinds whose changes may change the controller of a mesh. */
const SETTINGS: readonly string[] = ['Mesh', 'MeshParameters', 'ConfigMap'];
const EXTERNAL = 'MeshExternalService';
/** Kinds of a mesh that policies can target. */
const TARGETS: readonly string[] = ['MeshService', 'MeshMultiZoneService', EXTERNAL, 'Gateway', ...routeKinds];

/**
 * The policies of all meshes, over the index and the routes. Kinds of policies are those that stored
 * MetaresourceDefinitions declare; meshes that are not served have no policies here, as they have no routes. Stored
 * resources are checked again: an invalid definition defines nothing, an invalid policy is not accepted. The state
 * depends only on the current index, never on the order of events.
 */
export class MeshPolicies {
  readonly table: PolicyTable;
  private readonly declared: IndexedKinds;
  /** By kind: the definition, and the spec from which it was read. */
  private definitions: ReadonlyMap<string, { readonly spec: Resource['spec']; readonly definition: PolicyDefinition }> =
    new Map();
  private served: ReadonlySet<string> = new Set();

  constructor(
    private readonly options: MeshPoliciesOptions,
    routes: BindingTable,
  ) {
    this.table = new PolicyTable(routes);
    this.declared = new IndexedKinds(options.index);
  }

  /**
   * Derives everything from the index, one resource or frontend a step; called once. Changes between two steps are
   * applied as usual: resources that are reached later are read in their state at that time.
   */
  *load(): Generator<undefined> {
    const { index } = this.options;
    this.served = this.servedNow();
    this.definitions = this.definitionsNow();
    this.table.fill(() => {
      for (const { definition } of this.definitions.values()) this.table.setDefinition(definition);
    });
    for (const kind of ['Mesh', 'Namespace', ...TARGETS, ...this.definitions.keys()]) {
      for (const resource of index.ofKind(kind)) {
        this.table.fill(() => this.put(resource));
        yield;
      }
    }
    yield* this.table.derive();
  }

  /**
   * Applies an event of the index that is not a reload, after the index and the routes have applied it; `routes` are
   * the changes of the routes. Linear in the changes and in the resources that they affect.
   */
  apply({ changes }: Pick<IndexEvent, 'changes'>, routes: readonly ChangeSet[]): PolicyChangeSet {
    return this.table.batch(() => {
      for (const each of routes) this.table.routesChanged(each);
      if (changes.some(({ id }) => id.kind === DEFINITIONS)) this.readDefinitions();
      for (const change of changes) {
        if (change.id.kind === 'ReferenceGrant') this.table.grantsChanged(change.id.mesh, change.id.namespace);
        else if (!this.isRead(change.id.kind) || isSameToPolicies(change)) continue;
        else if (change.after) this.put(change.after);
        else this.remove(change.id);
      }
    });
  }

  /**
   * Returns how many resources `apply` must recompute for an event: all of them if other meshes are served than before,
   * or for the first kind of a hierarchy. A group or frontend of routes costs half as much as a resource.
   */
  getCost({ changes }: Pick<IndexEvent, 'changes'>, routes: readonly ChangeSet[]): number {
    if (changes.some(({ id }) => SETTINGS.includes(id.kind)) && !isSameSet(this.servedNow(), this.served))
      return Infinity;
    const isDefined = changes.some(({ id }) => id.kind === DEFINITIONS);
    if (isDefined && [...this.definitionsNow().values()].some((each) => this.table.isNewHierarchy(each.definition)))
      return Infinity;
    const own = changes.filter(({ id }) => this.isRead(id.kind)).length;
    return routes.reduce((cost, { groups, frontends }) => Math.max(cost, (groups.length + frontends.length) / 2), own);
  }

  private isRead(kind: string): boolean {
    return kind === 'Mesh' || kind === 'Namespace' || TARGETS.includes(kind) || this.definitions.has(kind);
  }

  private servedNow(): ReadonlySet<string> {
    return new Set(this.options.meshes.served().map(({ name }) => name));
  }

  /** Returns the kinds of policies that are declared now; definitions with an unchanged spec stay the same objects. */
  private definitionsNow(): typeof this.definitions {
    const found = new Map<string, { readonly spec: Resource['spec']; readonly definition: PolicyDefinition }>();
    for (const { kind, definition } of this.declared.evaluated) {
      const { spec } = definition;
      if (!kind) continue;
      const known = this.definitions.get(kind.name);
      const read = known && jsonEqual(known.spec, spec) ? known.definition : findDefinition(definition, kind.name);
      if (read) found.set(kind.name, { spec, definition: read });
    }
    return found;
  }

  private readDefinitions(): void {
    const before = this.definitions;
    this.definitions = this.definitionsNow();
    for (const kind of before.keys()) {
      if (this.definitions.has(kind)) continue;
      this.table.removePolicies(kind);
      this.table.removeDefinition(kind);
    }
    for (const [kind, { definition }] of this.definitions) {
      if (before.get(kind)?.definition === definition) continue;
      this.table.setDefinition(definition);
      if (!before.has(kind)) for (const policy of this.options.index.ofKind(kind)) this.put(policy);
    }
  }

  private put(resource: Resource): void {
    const { id, labels } = resource;
    if (id.kind === 'Mesh' || id.kind === 'Namespace') return void this.table.putObject({ id, labels });
    if (!this.served.has(id.mesh)) return;
    if (this.definitions.has(id.kind)) return void this.table.putPolicy(resource);
    const displayName = id.kind === 'Gateway' ? id.name : labelValue(labels, Label.displayName) || id.name;
    if (id.kind === EXTERNAL) this.table.setExternal(id, externalService(resource, displayName));
    this.table.putObject({ id, labels, displayName });
  }

  private remove(id: Identity): void {
    if (this.definitions.has(id.kind)) return void this.table.removePolicy(id);
    if (id.kind === EXTERNAL) this.table.setExternal(id, undefined);
    this.table.removeObject(id);
  }
}

/** Returns the definition of a stored resource; undefined if it is invalid. */
const findDefinition = ({ spec }: Resource, name: string): PolicyDefinition | undefined =>
  MetaresourceDefinition.isSpec(spec) ? readDefinition(spec, name) : undefined;

function externalService({ id, spec }: Resource, displayName: string): Parameters<PolicyTable['setExternal']>[1] {
  const ports = servicePorts({ spec }).map(({ number: port, section: name }) => ({ port, name }));
  return { id, displayName, ports, headless: false };
}

/** Most changes are of a status and change no policy. */
function isSameToPolicies({ before, after }: IndexChange): boolean {
  if (!before || !after || !jsonEqual(before.labels, after.labels)) return false;
  const isSameAge = before.creationOrder === after.creationOrder && before.generation === after.generation;
  return isSameAge && (before.spec === after.spec || jsonEqual(before.spec, after.spec));
}

const isSameSet = (a: ReadonlySet<string>, b: ReadonlySet<string>): boolean =>
  a.size === b.size && [...a].every((one) => b.has(one));
