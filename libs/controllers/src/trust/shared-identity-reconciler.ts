import {
  selectIdentity,
  readPresetPath,
  resolveSpiffeId,
  readWorkload,
  type MeshIdentityResource,
  groupIdentitiesByMesh,
  changesWorkloadIds,
} from '@causeway/identity';
import { Dataplane } from '@causeway/kinds';
import {
  compareText,
  findCondition,
  identityKey,
  withCondition,
  withoutConditions,
  type Resource,
  type ResourceKey,
} from '@causeway/resources';
import type { IndexChange, IndexReader } from '@causeway/store';
import { KeyedLoop, NO_KEYS, RESCAN, type KeyedReconciler, type Keys, type ReconcileResult } from '@causeway/loops';

/** The condition of a Dataplane whose SPIFFE id another workload has too: servers cannot tell them apart. */
export const SHARED_IDENTITY = 'SharedIdentity';

/** Its reason here; it takes precedence over the one of `LeaseConditionsReconciler`. */
export const SAME_ID = 'SameId';

/** Maximum number of workloads that the condition names. */
const MAX_NAMED = 5;

/** Dataplanes of one SPIFFE id. */
class IdentityMembers {
  /** The workload of each Dataplane, as `namespace/name`. */
  private readonly workloads = new Map<ResourceKey, string>();
  private readonly instances = new Map<string, number>();

  get keys(): readonly ResourceKey[] {
    return [...this.workloads.keys()];
  }

  get isEmpty(): boolean {
    return this.workloads.size === 0;
  }

  /** Workloads that share the id, in order; empty if there is only one: its instances share the id by intent. */
  get shared(): readonly string[] {
    return this.instances.size > 1 ? [...this.instances.keys()].sort(compareText) : [];
  }

  set(key: ResourceKey, workload: string): void {
    this.delete(key);
    this.workloads.set(key, workload);
    this.instances.set(workload, (this.instances.get(workload) ?? 0) + 1);
  }

  delete(key: ResourceKey): void {
    const workload = this.workloads.get(key);
    if (workload === undefined) return;
    this.workloads.delete(key);
    const left = (this.instances.get(workload) ?? 1) - 1;
    if (left > 0) this.instances.set(workload, left);
    else this.instances.delete(workload);
  }
}

/**
 * Writes the condition `SharedIdentity` on the Dataplanes of this zone whose MeshIdentity gives them the SPIFFE id of another workload
 * (docs/reference/sync.md Conditions); instances of one workload share an id by intent. A change of a MeshIdentity costs one walk; a change of a
 * Dataplane costs the Dataplanes of its id, if it adds or removes a workload of a shared one.
 */
export class SharedIdentityReconciler implements KeyedReconciler {
  readonly name = 'shared-identity';
  private identities: ReadonlyMap<string, readonly MeshIdentityResource[]> = new Map();
  private members = new Map<string, IdentityMembers>();
  private uris = new Map<ResourceKey, string>();
  private shared = new Map<string, readonly string[]>();

  constructor(private readonly zone: string) {}

  seed(index: IndexReader): Iterable<Keys> {
    this.identities = groupIdentitiesByMesh(index);
    this.members = new Map();
    this.uris = new Map();
    this.shared = new Map();
    return this.walk(index);
  }

  listKeys(change: IndexChange, index: IndexReader): readonly (ResourceKey | typeof RESCAN)[] {
    const { id, key, before, after } = change;
    if (changesWorkloadIds(change, this.zone)) return [RESCAN];
    if (id.kind !== Dataplane.name || id.zone !== this.zone) return NO_KEYS;
    if (before && after && before.labels === after.labels && before.spec === after.spec) return [key];
    const former = this.uris.get(key);
    this.file(key, index.byIdentityKey(key), index);
    const now = this.uris.get(key);
    return [key, ...this.moved(former), ...(now === former ? [] : this.moved(now))];
  }

  reconcile(key: ResourceKey, index: IndexReader, now: number): ReconcileResult | undefined {
    const held = index.byIdentityKey(key);
    if (!held) return undefined;
    const uri = this.uris.get(key);
    const workloads = uri === undefined ? undefined : this.shared.get(uri);
    const before = held.status ?? {};
    const status =
      uri === undefined || !workloads
        ? withoutConditions(
            before,
            findCondition(before, SHARED_IDENTITY)?.['reason'] === SAME_ID ? [SHARED_IDENTITY] : [],
          )
        : withCondition(before, condition(held, uri, workloads), now);
    return { change: status === before ? undefined : { type: 'patch', id: held.id, expect: held.revision, status } };
  }

  /** Files every Dataplane first: shared ids are complete only after the last one. */
  private *walk(index: IndexReader): Generator<Keys> {
    for (const held of index.ofKind(Dataplane.name)) {
      if (held.id.zone === this.zone) this.file(identityKey(held.id), held, index);
      yield NO_KEYS;
    }
    for (const uri of this.members.keys()) {
      this.moved(uri);
      yield NO_KEYS;
    }
    for (const { id } of index.ofKind(Dataplane.name)) yield id.zone === this.zone ? [identityKey(id)] : NO_KEYS;
  }

  /** Files a Dataplane under its id; removes one that is gone or has no id. */
  private file(key: ResourceKey, held: Resource | undefined, index: Pick<IndexReader, 'get'>): void {
    const former = this.uris.get(key);
    if (former !== undefined) {
      const members = this.members.get(former);
      members?.delete(key);
      if (members?.isEmpty === true) this.members.delete(former);
    }
    this.uris.delete(key);
    const dataplane = held && Dataplane.is(held) ? held : undefined;
    const identity = dataplane && selectIdentity(dataplane, this.identities.get(dataplane.id.mesh) ?? []);
    const found = identity && resolveSpiffeId(dataplane, identity, readPresetPath(index, dataplane.id).signs);
    if (!dataplane || found?.ok !== true) return;
    const { uri } = found.id;
    this.uris.set(key, uri);
    const members = this.members.get(uri) ?? new IdentityMembers();
    this.members.set(uri, members);
    members.set(key, formatWorkload(dataplane));
  }

  /** Finds again who shares an id; returns the keys of its Dataplanes if that changed. */
  private moved(uri: string | undefined): Keys {
    if (uri === undefined) return NO_KEYS;
    const members = this.members.get(uri);
    const before = this.shared.get(uri) ?? [];
    const after = members?.shared ?? [];
    if (before.join('\n') === after.join('\n')) return NO_KEYS;
    if (after.length === 0) this.shared.delete(uri);
    else this.shared.set(uri, after);
    return members?.keys ?? NO_KEYS;
  }
}

function formatWorkload({ id, labels }: Pick<Resource, 'id' | 'labels'>): string {
  return `${id.namespace}/${readWorkload({ id, labels })}`;
}

function condition(held: Resource, uri: string, workloads: readonly string[]) {
  const own = formatWorkload(held);
  const others = workloads.filter((name) => name !== own);
  const more = others.length > MAX_NAMED ? ` and ${others.length - MAX_NAMED} more` : '';
  const message = `${uri} is also the id of ${others.slice(0, MAX_NAMED).join(', ')}${more}: nobody can tell these workloads apart`;
  return {
    type: SHARED_IDENTITY,
    status: 'True',
    reason: SAME_ID,
    message,
    observedGeneration: held.generation,
  } as const;
}

/** Creates the loop of shared identities for a zone's leader. */
export function createSharedIdentityLoop(zone: string): KeyedLoop {
  return new KeyedLoop(new SharedIdentityReconciler(zone));
}
