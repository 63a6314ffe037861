import { isTerminating, type Meshes } from '@causeway/meshes';
import {
  compareIdentities,
  compareOrders,
  identityKey,
  jsonEqual,
  parseIdentityKey,
  type ControlPlane,
  type ResourceKey,
} from '@causeway/resources';
import type { IndexChange, IndexReader } from '@causeway/store';
import type { WorkloadIds } from '../availability/workload-ids';
import { asDataplane, type DataplaneResource } from '@causeway/dataplanes';
import { NO_KEYS, RESCAN, type KeyedReconciler, type Keys, type ReconcileResult } from '@causeway/loops';
import { isGenerated, planService, type BackingDataplane } from './plan-service';
import { readServices, type GeneratedSpec } from './service-candidates';

/** Settings of the services reconciler. */
export interface ServicesConfig {
  readonly cp: ControlPlane & { readonly role: 'zone' };
  /** The time for which a generated service without Dataplanes is kept, ms. */
  readonly gracePeriod: number;
  /** A terminating Mesh gets no new services (row T003-27); without it none is terminating. */
  readonly meshes?: Pick<Meshes, 'state'>;
  /** The SPIFFE ids of Dataplanes for new services; without it `AvailabilityReconciler` adds them. */
  readonly ids?: Pick<WorkloadIds, 'listIds'>;
  /** Called for a Dataplane that names a service with an invalid name. */
  readonly onUnusableName?: (dataplane: string, service: string) => void;
}

const NONE: ReadonlyMap<ResourceKey, GeneratedSpec> = new Map();

/** Generates MeshServices from the Dataplanes of this zone (docs/design.md §4 services). */
export class ServicesReconciler implements KeyedReconciler {
  readonly name = 'services';
  /** Service → its Dataplanes, by index key. */
  private readonly members = new Map<ResourceKey, Set<ResourceKey>>();
  /** The generated specs of Dataplanes that have several services. */
  private readonly specs = new WeakMap<DataplaneResource, ReadonlyMap<ResourceKey, GeneratedSpec>>();

  constructor(private readonly config: ServicesConfig) {}

  seed(index: IndexReader, reason: 'reset' | 'rescan'): Iterable<Keys> {
    if (reason === 'reset') this.members.clear();
    return this.walk(index);
  }

  listKeys(change: IndexChange): readonly (ResourceKey | typeof RESCAN)[] {
    const { id, key, before, after } = change;
    // Services that a terminating Mesh did not get are created when its label is removed.
    if (id.kind === 'Mesh' && before && isTerminating(before.labels) && !isTerminating(after?.labels ?? {}))
      return [RESCAN];
    if (!this.isOurs(id)) return NO_KEYS;
    if (id.kind === 'Dataplane') return this.keysOfDataplane(change);
    return id.kind === 'MeshService' ? [key] : NO_KEYS;
  }

  reconcile(key: ResourceKey, index: IndexReader, now: number): ReconcileResult {
    const { cp, gracePeriod, meshes, ids } = this.config;
    const existing = index.byIdentityKey(key);
    const id = existing?.id ?? parseIdentityKey(key);
    if (!existing && meshes?.state(id.mesh)?.terminating === true) return {};
    const backings = this.listBackings(key, index);
    const uris = existing ? [] : backings.flatMap(({ dataplane }) => ids?.listIds(dataplane) ?? []);
    return planService({ id, existing, backings, uris, cp, now, gracePeriod });
  }

  /** A Dataplane that changes during the walk is visited twice, without effect. */
  private *walk(index: IndexReader): Generator<Keys> {
    for (const resource of index.ofKind('Dataplane')) {
      const change = { key: identityKey(resource.id), id: resource.id, before: undefined, after: resource };
      yield this.isOurs(resource.id) ? this.keysOfDataplane(change) : NO_KEYS;
    }
    for (const service of index.ofKind('MeshService')) {
      yield this.isOurs(service.id) && isGenerated(service) ? [identityKey(service.id)] : NO_KEYS;
    }
  }

  private keysOfDataplane({ key, before, after }: IndexChange): Keys {
    const [was, is] = [asDataplane(before), asDataplane(after)];
    const [backed, backs] = [was ? this.getSpecs(was) : NONE, is ? this.getSpecs(is) : NONE];
    for (const service of backed.keys()) if (!backs.has(service)) this.setMember(service, key, false);
    for (const service of backs.keys()) this.setMember(service, key, true);
    if (is) for (const name of readServices(is).unusable) this.config.onUnusableName?.(key, name);
    // A service takes labels from its Dataplanes as well.
    const isRelabelled = !jsonEqual(was?.labels, is?.labels);
    const isStale = (service: ResourceKey): boolean => !jsonEqual(backed.get(service), backs.get(service));
    return [...new Set([...backed.keys(), ...backs.keys()])].filter((service) => isRelabelled || isStale(service));
  }

  private setMember(service: ResourceKey, dataplane: ResourceKey, member: boolean): void {
    const members = this.members.get(service) ?? new Set<ResourceKey>();
    if (member) members.add(dataplane);
    else members.delete(dataplane);
    if (members.size === 0) this.members.delete(service);
    else this.members.set(service, members);
  }

  /** In the order of their creation. */
  private listBackings(key: ResourceKey, index: IndexReader): readonly BackingDataplane[] {
    const backings = [...(this.members.get(key) ?? [])].flatMap((member): readonly BackingDataplane[] => {
      const dataplane = asDataplane(index.byIdentityKey(member));
      const spec = dataplane && this.getSpecs(dataplane).get(key);
      return spec ? [{ dataplane, spec }] : [];
    });
    return backings.sort(({ dataplane: a }, { dataplane: b }) => compareCreation(a, b));
  }

  /**
   * Returns the generated specs of a Dataplane by service key. Those of a Dataplane with several services are cached, because each service reads
   * them.
   */
  private getSpecs(dataplane: DataplaneResource): ReadonlyMap<ResourceKey, GeneratedSpec> {
    const known = this.specs.get(dataplane);
    if (known) return known;
    const { candidates } = readServices(dataplane);
    const specs = new Map(candidates.map(({ id, spec }) => [identityKey(id), spec]));
    if (specs.size > 1) this.specs.set(dataplane, specs);
    return specs;
  }

  private isOurs(id: { readonly zone: string }): boolean {
    return id.zone === this.config.cp.zone;
  }
}

function compareCreation(a: DataplaneResource, b: DataplaneResource): number {
  return compareOrders(a.creationOrder, b.creationOrder) || compareIdentities(a.id, b.id);
}
