import { asDataplane } from '@causeway/dataplanes';
import { movesMeshAuthority, WorkloadIds } from '@causeway/controllers';
import { changesWorkloadIds, changingIds, computeZoneDomains, type ZoneDomains } from '@causeway/identity';
import { IdentityPathState, MeshService } from '@causeway/kinds';
import type { CallerFacts, ChangingIds, IdBearer } from '@causeway/policies';
import {
  identityKey,
  jsonEqual,
  type JsonObject,
  type Resource,
  parseIdentityKey,
  type ResourceKey,
} from '@causeway/resources';
import type { IndexChange, IndexReader } from '@causeway/store';

/** The namespaces, each with its mesh, whose set of known SPIFFE ids changed; `all`: also the zones of trust domains may have changed. */
export type CallersChange = ReadonlySet<string> | 'all';

const NOTHING: ReadonlySet<string> = new Set();

/** The name of a namespace of a mesh in a `CallersChange`. */
export function callersIn(mesh: string, namespace: string): string {
  return `${mesh}/${namespace}`;
}

/**
 * Maps SPIFFE ids to the workloads that carry them (docs/reference/policies-shipped.md, AccessPolicy). Sources: the Dataplanes of this zone with
 * their MeshIdentities, `spec.identities` of services in all zones, and the ids that other zones publish for shared namespaces, as far as an id
 * belongs to the zone that publishes it. A change costs the ids of the changed resource; a change of a MeshIdentity, or of the published ids of a
 * zone, costs all ids.
 */
export class CallerDirectory {
  private readonly ids = new WorkloadIds();
  private meshes = new Map<string, MeshCallers>();
  private domains = new Map<string, ZoneDomains>();
  private changing = new Map<string, readonly ChangingIds[]>();

  constructor(
    private readonly index: Pick<IndexReader, 'get' | 'ofKind'>,
    private readonly zone: string,
  ) {
    this.ids.reset(index);
  }

  /** Reads everything, one resource a step. */
  *load(): Generator<undefined> {
    for (const kind of ['Dataplane', 'MeshService'])
      for (const resource of this.index.ofKind(kind)) {
        this.set(identityKey(resource.id), resource);
        yield;
      }
    for (const state of this.index.ofKind(IdentityPathState.name)) {
      this.setShared(state);
      yield;
    }
  }

  /** Applies changes of the index. */
  observe(changes: readonly IndexChange[]): CallersChange {
    const moves = (change: IndexChange): boolean =>
      changesWorkloadIds(change, this.zone) || movesMeshAuthority(change) || movesState(change, this.zone);
    if (changes.some(moves)) {
      this.ids.reset(this.index);
      this.meshes = new Map();
      this.domains = new Map();
      this.changing = new Map();
      for (const _ of this.load());
      return 'all';
    }
    const touched = changes.flatMap(({ id, key, before, after }) => {
      if (id.kind !== 'Dataplane' && id.kind !== 'MeshService') return [];
      if (before && after && before.spec === after.spec && before.labels === after.labels) return [];
      return this.set(key, after).map((namespace) => callersIn(id.mesh, namespace));
    });
    return touched.length === 0 ? NOTHING : new Set(touched);
  }

  /** Returns the callers of a mesh, as known at the time of the call. */
  of(mesh: string): CallerFacts {
    const known = (): MeshCallers => this.ofMesh(mesh);
    return {
      ids: () => known().ids(),
      idsIn: (namespace) => known().idsIn(namespace),
      listBearers: (id) => known().listBearers(id),
      listDomains: (of) => this.listZoneDomains(mesh, of),
      changing: () => {
        const changing =
          this.changing.get(mesh) ?? changingIds(this.index, mesh, (of) => this.listZoneDomains(mesh, of).possible);
        this.changing.set(mesh, changing);
        return changing;
      },
    };
  }

  private listZoneDomains(mesh: string, of: string): ZoneDomains {
    const key = `${mesh}/${of}`;
    const domains = this.domains.get(key) ?? computeZoneDomains(this.index, mesh, { of, here: this.zone });
    this.domains.set(key, domains);
    return domains;
  }

  private ofMesh(mesh: string): MeshCallers {
    const known = this.meshes.get(mesh) ?? new MeshCallers();
    this.meshes.set(mesh, known);
    return known;
  }

  /**
   * Returns the namespaces of everything that carries an id which `resource` gained or lost. `resource`: the new state; undefined where it is gone.
   */
  private set(key: ResourceKey, resource: Resource | undefined): readonly string[] {
    const { kind, mesh, namespace, name } = parseIdentityKey(key);
    const bearer = kind === MeshService.name ? { namespace, service: name } : { namespace };
    return this.ofMesh(mesh).set(key, bearer, resource ? this.listIds(resource) : []);
  }

  /** Applies the ids that another zone publishes for its namespaces: some carriers of these ids are known in that zone only. */
  private setShared(state: Resource): void {
    const { mesh, zone } = state.id;
    if (zone === this.zone || !IdentityPathState.is(state)) return;
    const isOfZone = this.isOfZone(mesh, zone);
    for (const { id, namespaces } of state.spec.shared ?? [])
      if (isOfZone(id))
        for (const namespace of namespaces)
          this.ofMesh(mesh).set(`${identityKey(state.id)} ${id} ${namespace}`, { namespace }, [id]);
  }

  /** Returns a predicate: whether an id belongs to a trust domain that may be the zone's. */
  private isOfZone(mesh: string, zone: string): (id: string) => boolean {
    const domains = this.listZoneDomains(mesh, zone).possible.map((domain) => `spiffe://${domain}/`);
    return (id) => domains.some((domain) => id.startsWith(domain));
  }

  /**
   * Returns the ids of a resource: for a Dataplane of this zone the ids that its certificate may carry, for a MeshService the ids of its instances.
   */
  listIds(resource: Resource): readonly string[] {
    const { mesh, zone } = resource.id;
    const dataplane = asDataplane(resource);
    if (dataplane) return zone === this.zone ? this.ids.listIds(dataplane) : [];
    if (!MeshService.is(resource)) return [];
    // A zone vouches for its own workloads only.
    const isOfZone = this.isOfZone(mesh, zone);
    return (resource.spec.identities ?? []).flatMap(({ type, value }) =>
      type === 'SpiffeID' && isOfZone(value) ? [value] : [],
    );
  }
}

/** Reports whether a zone publishes other ids than before; the time at which a rotation step ends does not count. */
function movesState({ id, before, after }: IndexChange, zone: string): boolean {
  if (id.kind !== IdentityPathState.name) return false;
  return !jsonEqual(readPublishedIds(before, zone), readPublishedIds(after, zone));
}

/** The ids that this zone itself publishes are left out: its Dataplanes are the source for them. */
function readPublishedIds(state: Resource | undefined, here: string): JsonObject {
  const { until: _, shared, ...rest } = state?.spec ?? {};
  return state?.id.zone === here || shared === undefined ? rest : { ...rest, shared };
}

/** The ids of one mesh. */
class MeshCallers {
  /** The carriers of each id, by identity key. */
  private readonly bearers = new Map<string, Map<string, IdBearer>>();
  /** Numbers of carriers of each id in each namespace: by namespace, and by id. */
  private readonly byNamespace = new Map<string, Map<string, number>>();
  private readonly byId = new Map<string, Map<string, number>>();
  private readonly idsByKey = new Map<string, ReadonlySet<string>>();

  ids(): Iterable<string> {
    return this.bearers.keys();
  }

  idsIn(namespace: string): Iterable<string> {
    return this.byNamespace.get(namespace)?.keys() ?? [];
  }

  listBearers(id: string): readonly IdBearer[] {
    return [...(this.bearers.get(id)?.values() ?? [])];
  }

  /** Returns the namespaces that contain carriers of the ids that came or went. */
  set(key: string, bearer: IdBearer, ids: readonly string[]): readonly string[] {
    const [before, after] = [this.idsByKey.get(key) ?? new Set<string>(), new Set(ids)];
    const gone = [...before].filter((id) => !after.has(id));
    const come = ids.filter((id) => !before.has(id));
    for (const id of gone) this.remove(id, key, bearer);
    for (const id of come) this.add(id, key, bearer);
    if (after.size > 0) this.idsByKey.set(key, after);
    else this.idsByKey.delete(key);
    const others = [...gone, ...come].flatMap((id) => [...(this.byId.get(id)?.keys() ?? [])]);
    return gone.length + come.length === 0 ? [] : [bearer.namespace, ...others];
  }

  private add(id: string, key: string, bearer: IdBearer): void {
    const known = this.bearers.get(id) ?? new Map<string, IdBearer>();
    this.bearers.set(id, known.set(key, bearer));
    count(this.byNamespace, bearer.namespace, id, 1);
    count(this.byId, id, bearer.namespace, 1);
  }

  private remove(id: string, key: string, { namespace }: IdBearer): void {
    const known = this.bearers.get(id);
    if (!known?.delete(key)) return;
    if (known.size === 0) this.bearers.delete(id);
    count(this.byNamespace, namespace, id, -1);
    count(this.byId, id, namespace, -1);
  }
}

/** Adds `step` to the count of `inner` in the counts of `outer`. */
function count(counts: Map<string, Map<string, number>>, outer: string, inner: string, step: 1 | -1): void {
  const known = counts.get(outer) ?? new Map<string, number>();
  const sum = (known.get(inner) ?? 0) + step;
  if (sum > 0) counts.set(outer, known.set(inner, sum));
  else if (known.delete(inner) && known.size === 0) counts.delete(outer);
}
