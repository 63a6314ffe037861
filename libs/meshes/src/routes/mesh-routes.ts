import { isDeepStrictEqual } from 'node:util';
import { storedGateway, storedGrant, storedRoute, storedService } from '@causeway/kinds';
import { routeKinds, BindingTable, type ChangeSet, type AllowedRoutes } from '@causeway/routing';
import { jsonEqual, type Identity, type Resource } from '@causeway/resources';
import type { IndexChange, IndexEvent, IndexReader } from '@causeway/store';
import type { Meshes } from '../meshes';

/** Dependencies of a table of routes. */
export interface MeshRoutesOptions {
  readonly index: Pick<IndexReader, 'ofKind' | 'countByMesh'>;
  readonly meshes: Pick<Meshes, 'served'>;
  /** The zone in which names are resolved; empty on the global. */
  readonly zone: string;
}

/** Kinds whose changes may change the controller of a mesh, or its settings for routes. */
const SETTINGS: readonly string[] = ['Mesh', 'MeshParameters', 'ConfigMap'];
const SERVICES = ['MeshService', 'MeshMultiZoneService'] as const;
/** Kinds of a mesh that routing reads. */
const MEMBERS: readonly string[] = [...SERVICES, 'Gateway', 'ReferenceGrant', ...routeKinds];

/**
 * The bound routes of all meshes over the index. Foreign and missing meshes have no routes here (row T000-07); a
 * terminating mesh keeps its routes. Stored resources are checked again (`storedRoute`). The state depends only on the
 * current index, never on the order of events.
 */
export class MeshRoutes {
  readonly table: BindingTable;
  /** The served meshes, with their settings for routes. */
  private served: ReadonlyMap<string, AllowedRoutes | undefined> = new Map();

  constructor(private readonly options: MeshRoutesOptions) {
    this.table = new BindingTable({ zone: options.zone });
  }

  /**
   * Derives everything from the index, one resource a step; called once. Events between two steps are applied as usual:
   * resources that are reached later are read in their state at that time.
   */
  *load(): Generator<undefined> {
    const { index } = this.options;
    this.table.fill(() => this.readMeshes());
    for (const kind of ['Namespace', ...MEMBERS]) {
      for (const resource of index.ofKind(kind)) {
        this.table.fill(() => this.put(resource));
        yield;
      }
    }
  }

  /**
   * Applies an event of the index that is not a reload, after the index has applied it. Linear in the changes and in
   * the resources that they affect; a mesh that becomes served, or is no longer served, costs all its members
   * (`estimateCost`).
   */
  apply({ changes }: Pick<IndexEvent, 'changes'>): ChangeSet {
    return this.table.batch(() => {
      if (changes.some(({ id }) => SETTINGS.includes(id.kind))) this.readMeshes();
      for (const change of changes) {
        if (isSameToRouting(change)) continue;
        if (change.after) this.put(change.after);
        else this.remove(change.id);
      }
    });
  }

  /** Returns how many resources `apply` must read for an event. */
  getCost({ changes }: Pick<IndexEvent, 'changes'>): number {
    const own = changes.filter(({ id }) => MEMBERS.includes(id.kind)).length;
    if (!changes.some(({ id }) => SETTINGS.includes(id.kind))) return own;
    const now = this.servedNow();
    const moved = [...new Set([...now.keys(), ...this.served.keys()])].filter(
      (mesh) => now.has(mesh) !== this.served.has(mesh),
    );
    return moved.reduce((sum, mesh) => sum + this.countMembers(mesh), own);
  }

  private countMembers(mesh: string): number {
    const { index } = this.options;
    return MEMBERS.reduce((sum, kind) => sum + (index.countByMesh(kind).get(mesh) ?? 0), 0);
  }

  private servedNow(): ReadonlyMap<string, AllowedRoutes | undefined> {
    return new Map(this.options.meshes.served().map(({ name, allowedRoutes }) => [name, allowedRoutes]));
  }

  /** Reads which meshes are served, and their settings for routes. */
  private readMeshes(): void {
    const before = this.served;
    this.served = this.servedNow();
    const moved = new Set<string>();
    for (const mesh of new Set([...before.keys(), ...this.served.keys()])) {
      const rule = this.served.get(mesh);
      if (before.has(mesh) !== this.served.has(mesh)) moved.add(mesh);
      if (!isDeepStrictEqual(before.get(mesh), rule)) this.table.setAllowedRoutes(mesh, rule);
    }
    if (moved.size === 0 || before.size === 0) return;
    for (const kind of MEMBERS) {
      for (const resource of this.options.index.ofKind(kind)) {
        if (!moved.has(resource.id.mesh)) continue;
        if (this.served.has(resource.id.mesh)) this.put(resource);
        else this.remove(resource.id);
      }
    }
  }

  private put(resource: Resource): void {
    const { id, labels } = resource;
    if (id.kind === 'Namespace') return void this.table.setNamespace(id.name, labels);
    if (!this.served.has(id.mesh)) return;
    const [route, service] = [storedRoute(resource), storedService(resource)];
    if (route) this.table.putRoute(route);
    else if (service) this.table.putService(service);
    else if (id.kind === 'Gateway') this.table.putGateway(storedGateway(resource));
    else if (id.kind === 'ReferenceGrant') this.table.setGrant(id, storedGrant(resource));
  }

  private remove(id: Identity): void {
    if (id.kind === 'Namespace') this.table.setNamespace(id.name, undefined);
    else if (id.kind === 'ReferenceGrant') this.table.setGrant(id, undefined);
    else if (routeKinds.some((kind) => kind === id.kind)) this.table.removeRoute(id);
    else if (id.kind === 'Gateway' || SERVICES.some((kind) => kind === id.kind)) this.table.removeTarget(id);
  }
}

/** Most changes are of a status or of a computed field of a service: they do not change a binding. */
function isSameToRouting({ before, after }: IndexChange): boolean {
  if (!before || !after || !jsonEqual(before.labels, after.labels)) return false;
  const service = storedService(after);
  if (service) return isDeepStrictEqual(storedService(before), service);
  const isSameAge = before.generation === after.generation && before.creationOrder === after.creationOrder;
  return isSameAge && jsonEqual(before.spec, after.spec);
}
