import { isDeepStrictEqual } from 'node:util';
import {
  AppMeshTable,
  readBinding,
  toMember,
  sourceKinds,
  withBinding,
  type Compiled,
  type AppMeshChanges,
} from '@causeway/appmesh';
import { MeshNaming, readStoredSource } from '@causeway/kinds';
import { meshSuffixes, namesHere, type FollowedRoutes } from '@causeway/meshes';
import {
  identityKey,
  isGeneratedFrom,
  isMadeHere,
  jsonEqual,
  type Condition,
  type ControlPlane,
  type Resource,
  type ResourceKey,
} from '@causeway/resources';
import { routeKinds } from '@causeway/routing';
import type { IndexChange, IndexReader, PatchChange } from '@causeway/store';
import {
  KeyedLoop,
  keysOfTable,
  NO_KEYS,
  type ControlLoop,
  type KeyedReconciler,
  type Keys,
  type KeySource,
  type ReconcileResult,
} from '@causeway/loops';
import { GeneratedObjects } from './generated-objects';
import { listFrontends, sourcesNamed, unnamedCondition } from './hostname-condition';
import { KeptSuffixesLoop } from './kept-suffixes-loop';
import { planGenerated } from './plan-generated';
import { nameTakenCondition, planSourceStatus, routedCondition } from './source-status';

/** Inputs of the App Mesh loop. */
export interface AppMeshOptions {
  readonly cp: ControlPlane;
  /** The routes of this replica, derived from the same index. */
  readonly routes: Pick<FollowedRoutes, 'table' | 'hasLoaded' | 'subscribe'>;
  /** No frontend is written until this loop is settled; without it all are written at once. */
  readonly kept?: Pick<KeptSuffixesLoop, 'isSettled'>;
}

/** The kinds of which objects are generated. */
const GENERATED_KINDS: readonly string[] = [
  'MeshService',
  'HTTPRoute',
  'GRPCRoute',
  'TCPRoute',
  'TimeoutPolicy',
  'RetryPolicy',
  'CircuitBreakerPolicy',
];
const isSource = (kind: string): boolean => sourceKinds.some((known) => known === kind);

/**
 * Generates MeshServices, routes and policies from VirtualNodes and VirtualServices. Writes the conditions of those that were made here, and the node
 * of each Dataplane (docs/adr/0022-app-mesh-compiles-to-the-core.md). A change costs the objects that it affects. Objects are planned only when every
 * changed source is compiled, so that none is deleted while its source is queued.
 */
class AppMeshReconciler implements KeyedReconciler {
  readonly name = 'app-mesh';
  readonly sources: readonly KeySource[];
  private table = new AppMeshTable();
  private readonly objects: GeneratedObjects;
  /** Keys of changed sources that are not compiled yet; each is queued. */
  private readonly pending = new Set<ResourceKey>();
  /** Keys of objects and sources to plan. */
  private stale = new Set<ResourceKey>();
  /** Frontends that wait until it is decided which names are kept. */
  private waiting = new Set<ResourceKey>();

  constructor(private readonly options: AppMeshOptions) {
    this.objects = new GeneratedObjects(options.cp);
    const { objects } = this;
    const listSources = (keys: Keys): Keys => keys.flatMap((key) => [...objects.listSources(key)]);
    this.sources = [
      keysOfTable(
        options.routes,
        ({ routes }) => listSources(routes),
        () => [...objects.sources()],
      ),
    ];
  }

  *seed(index: IndexReader, reason: 'reset' | 'rescan'): Iterable<Keys> {
    if (reason === 'reset') {
      this.table = new AppMeshTable();
      this.objects.clear();
      this.pending.clear();
      this.stale.clear();
      this.waiting.clear();
      const meshes = new Set([...index.ofKind(MeshNaming.name)].map(({ id }) => id.mesh));
      for (const mesh of meshes) this.table.setSuffixes(mesh, meshSuffixes(index, mesh, this.options.cp));
    }
    for (const kind of ['Dataplane', ...sourceKinds]) {
      for (const resource of index.ofKind(kind)) yield this.apply(resource);
    }
    for (const kind of GENERATED_KINDS) {
      for (const { id, labels } of index.ofKind(kind)) yield isGeneratedFrom(labels) ? [identityKey(id)] : NO_KEYS;
    }
  }

  listKeys({ id, key, before, after }: IndexChange, index: IndexReader): Keys {
    if (id.kind === MeshNaming.name) {
      const { cp } = this.options;
      return namesHere(id, cp)
        ? this.touch(this.table.setSuffixes(id.mesh, meshSuffixes(index, id.mesh, cp)))
        : NO_KEYS;
    }
    if (id.kind === 'Dataplane') {
      if (before && after && isSameMember(before, after)) return NO_KEYS;
      return this.touch(after ? this.table.putMember(toMember(after)) : this.table.removeMember(id));
    }
    if (isSource(id.kind)) {
      const isSame = before && after && before.generation === after.generation && jsonEqual(before.spec, after.spec);
      if (isSame) return [key];
      return after ? this.apply(after) : [...this.touch(this.table.remove(id)), key];
    }
    if (!GENERATED_KINDS.includes(id.kind)) return NO_KEYS;
    const versions = [before, after].filter((one) => one !== undefined);
    const isWanted = this.objects.get(key) !== undefined;
    // A source has a condition if an object of another author has the generated name; the source is planned again when that object comes or goes.
    if (isWanted && versions.some(({ labels }) => !isGeneratedFrom(labels)))
      return [key, ...this.objects.listSources(key)];
    if (!isWanted && !versions.some(({ labels }) => isGeneratedFrom(labels))) return NO_KEYS;
    // A VirtualService has a condition with the reason why its frontend has no name.
    return before && after && jsonEqual(before.status?.['addresses'], after.status?.['addresses'])
      ? [key]
      : [key, ...sourcesNamed(id, this.options.cp)];
  }

  derivedKeys(): Keys {
    if (this.waiting.size > 0 && this.options.kept?.isSettled !== false) {
      for (const key of this.waiting) this.stale.add(key);
      this.waiting = new Set();
    }
    if (this.stale.size === 0) return NO_KEYS;
    const keys = [...this.stale];
    this.stale = new Set();
    return keys;
  }

  reconcile(key: ResourceKey, index: IndexReader, now: number): ReconcileResult | undefined {
    const existing = index.byIdentityKey(key);
    if (isSource(key.slice(0, key.indexOf('/')))) return this.reconcileSource(key, index, now);
    if (existing?.id.kind === 'Dataplane') return { change: this.planBinding(existing) };
    if (this.pending.size > 0) {
      this.stale.add(key);
      return undefined;
    }
    // A frontend without its label loses its name: none is written before the existing names are kept.
    if (this.isHeldBack(key)) return undefined;
    return { change: planGenerated(this.objects.get(key), existing, this.options.cp) };
  }

  private reconcileSource(key: ResourceKey, index: IndexReader, now: number): ReconcileResult | undefined {
    const { cp, routes } = this.options;
    const source = index.byIdentityKey(key);
    this.pending.delete(key);
    const compiled = this.table.compile(key);
    const changed = this.objects.update(key, source, compiled);
    for (const object of changed) this.stale.add(object);
    if (!source || !compiled || !isMadeHere(source, cp)) return undefined;
    const generated = compiled.rules.filter(({ id }) => routeKinds.some((kind) => kind === id.kind));
    const keys = generated.map(({ id }) => identityKey(id));
    const routed = routedCondition(keys, routes.table, source.generation);
    const found = this.objects.objectsFrom(key).map((object) => index.byIdentityKey(object));
    const taken = nameTakenCondition(found, source.generation);
    const unnamed = this.findUnnamed(source, compiled, index);
    const stored = [routed, taken, unnamed].filter((one) => one !== undefined);
    return { change: planSourceStatus(source, [...compiled.conditions, ...stored], now) };
  }

  private findUnnamed(source: Resource, compiled: Compiled, index: IndexReader): Condition | undefined {
    const { id, generation } = source;
    if (id.kind !== 'VirtualService' || !compiled.service || this.isHeldBack(identityKey(id))) return undefined;
    return unnamedCondition(compiled, id.mesh, listFrontends(id, index, this.options.cp), generation);
  }

  /** Reports whether it is not decided yet which names are kept, and queues the key until then. */
  private isHeldBack(key: ResourceKey): boolean {
    if (this.options.kept?.isSettled !== false) return false;
    this.waiting.add(key);
    return true;
  }

  /**
   * Plans the status of a Dataplane of this zone: its node, and the backends of that node. By the status a Dataplane stays with its node whoever
   * leads (T003-33), and every replica that serves its proxies reads the backends (T003-35).
   */
  private planBinding({ id, revision, labels, status }: Resource): PatchChange | undefined {
    const { cp } = this.options;
    if (cp.role !== 'zone' || !isMadeHere({ id, labels }, cp)) return undefined;
    const wanted = withBinding(status, this.table.binding(id));
    return wanted === status ? undefined : { type: 'patch', id, expect: revision, status: wanted ?? {} };
  }

  /** Applies a Dataplane or a source; one that cannot be decoded counts as absent. */
  private apply(resource: Resource): Keys {
    if (resource.id.kind === 'Dataplane') return this.touch(this.table.putMember(toMember(resource)));
    const source = readStoredSource(resource);
    const touched = this.touch(source ? this.table.put(source) : this.table.remove(resource.id));
    return [...touched, identityKey(resource.id)];
  }

  private touch({ sources, members }: AppMeshChanges): Keys {
    for (const key of sources) this.pending.add(key);
    return [...sources, ...members];
  }
}

/** Reports whether two versions of a Dataplane match the same nodes and have the same node in their status. */
function isSameMember(a: Resource, b: Resource): boolean {
  const [before, after] = [a, b].map(readBinding);
  return jsonEqual(a.labels, b.labels) && isDeepStrictEqual(before, after);
}

/**
 * Creates the loops of App Mesh for one term, which ends with `signal`: the one that keeps names at an upgrade, then the one of objects and
 * conditions.
 */
export function createAppMeshLoops(
  options: Omit<AppMeshOptions, 'kept'>,
  term: { readonly signal: AbortSignal },
): readonly ControlLoop[] {
  const kept = new KeptSuffixesLoop(options.cp);
  return [kept, new KeyedLoop(new AppMeshReconciler({ ...options, kept }), term)];
}
