import {
  selectIdentity,
  identityPathStateId,
  isIdByPreset,
  computeNextStep,
  readPresetPath,
  listSpiffeIds,
  findWantedForm,
  type MeshIdentityResource,
  type PathStep,
  groupIdentitiesByMesh,
  changesWorkloadIds,
} from '@causeway/identity';
import {
  Dataplane,
  IdentityPath,
  IdentityPathState,
  MAX_NAMESPACES_SHARING,
  MAX_SHARED_IDS,
  MAX_STATE_NAMESPACES,
  type IdentityPathStateSpec,
} from '@causeway/kinds';
import {
  compareText,
  computedLabels,
  globalIdentity,
  identityKey,
  jsonEqual,
  parseIdentityKey,
  type ControlPlane,
  type Resource,
  type ResourceKey,
} from '@causeway/resources';
import type { IndexChange, IndexReader } from '@causeway/store';
import { KeyedLoop, NO_KEYS, RESCAN, type KeyedReconciler, type Keys, type ReconcileResult } from '@causeway/loops';
import type { IdentityPathReplicas } from './identity-path-replicas';
import { IdsOfMesh, type ConcernedDataplane } from './ids-of-mesh';

/** Time for which the other form of ids is announced before certificates are signed for it, ms; at most half the validity of a certificate. */
const ANNOUNCED = 600_000;
/** Minimum time between two writes of the namespaces or shared ids of one mesh, ms. */
const WRITE_INTERVAL = 10_000;
/** Interval of the checks of a step that is held, ms. */
const POLL_INTERVAL = 10_000;

/** Options of the loop that changes the form of ids in a zone. */
export interface IdentityPathOptions {
  readonly cp: ControlPlane;
  readonly zone: string;
  readonly replicas: Pick<IdentityPathReplicas, 'areReady'>;
  /** Maximum validity of workload certificates, ms. */
  readonly validity: number;
  /** Maximum clock difference between control planes, ms. */
  readonly skew: number;
  /** Reports whether the zone has lost its session with the global; absent for a zone without a global. */
  readonly isCutOff?: () => boolean;
}

/**
 * Changes the form of the SPIFFE ids of a mesh in this zone as an IdentityPath requires, in steps that its IdentityPathState records, and writes
 * there the ids that workloads of several namespaces share (docs/guides/workload-identity.md). A change of a Dataplane costs its ids; a change of a
 * MeshIdentity or of the form costs one walk.
 */
class IdentityPathReconciler implements KeyedReconciler {
  readonly name = 'identity-path';
  readonly looksOutside = true;
  private identities: ReadonlyMap<string, readonly MeshIdentityResource[]> = new Map();
  private readonly meshes = new Map<string, IdsOfMesh>();
  private wereReady: boolean | undefined;
  /** The time at which the state of a mesh was last written, by its key, ms since 1970. */
  private readonly writtenAt = new Map<string, number>();

  constructor(private readonly options: IdentityPathOptions) {}

  seed(index: IndexReader): Iterable<Keys> {
    this.identities = groupIdentitiesByMesh(index);
    this.meshes.clear();
    return this.walk(index);
  }

  listKeys(change: IndexChange, index: IndexReader): readonly (ResourceKey | typeof RESCAN)[] {
    const { zone } = this.options;
    const { id, key, before, after } = change;
    if (changesWorkloadIds(change, zone)) return [RESCAN];
    if (id.kind === 'Mesh') return before && after ? NO_KEYS : [this.formatKey(id.name)];
    if (id.kind === IdentityPath.name) return [this.formatKey(id.mesh)];
    if (id.zone !== zone) return NO_KEYS;
    if (id.kind === IdentityPathState.name) return [key];
    if (id.kind !== Dataplane.name) return NO_KEYS;
    if (before && after && before.labels === after.labels && before.spec === after.spec) return NO_KEYS;
    return this.file(index.byIdentityKey(key), key, index) ? [this.formatKey(id.mesh)] : NO_KEYS;
  }

  outsideKeys(index: IndexReader): Keys {
    const { areReady } = this.options.replicas;
    if (areReady === this.wereReady) return NO_KEYS;
    this.wereReady = areReady;
    return [...index.ofKind('Mesh')].map(({ id }) => this.formatKey(id.name));
  }

  reconcile(key: ResourceKey, index: IndexReader, now: number): ReconcileResult | undefined {
    const id = parseIdentityKey(key);
    const held = index.byIdentityKey(key);
    if (held && !IdentityPathState.is(held)) return undefined;
    if (!index.get(globalIdentity('Mesh', id.mesh)))
      return held && { change: { type: 'delete', id, expect: held.revision } };
    const ids = this.meshes.get(id.mesh);
    const before = getStep(held?.spec);
    const step = this.next(before, { mesh: id.mesh, ids, index, now });
    const spec = stateSpec(step, ids, held?.spec);
    const isKept = spec.signs !== 'Workload' || spec.step !== undefined || spec.shared !== undefined;
    if (held ? isKept && jsonEqual(held.spec, spec) : !isKept) return this.dueAt(step, now);
    const isSameStep = before.signs === step.signs && before.step === step.step && before.until === step.until;
    const next = (this.writtenAt.get(key) ?? -Infinity) + WRITE_INTERVAL;
    if (isSameStep && now < next) return { dueAt: next };
    this.writtenAt.set(key, now);
    const { dueAt } = this.dueAt(step, now);
    if (!isKept) return { change: held && { type: 'delete', id, expect: held.revision }, dueAt };
    const labels = computedLabels(IdentityPathState, id, this.options.cp);
    return { change: { type: 'put', id, expect: held?.revision ?? 'absent', labels, spec: { ...spec } }, dueAt };
  }

  private next(
    before: PathStep,
    of: {
      readonly mesh: string;
      readonly ids: IdsOfMesh | undefined;
      readonly index: IndexReader;
      readonly now: number;
    },
  ): PathStep {
    const { replicas, validity, skew } = this.options;
    const { index, now, mesh, ids } = of;
    return computeNextStep(before, {
      now,
      wanted: findWantedForm(index, mesh),
      areReplicasReady: replicas.areReady,
      announced: Math.min(ANNOUNCED, validity / 2),
      ended: validity + skew,
      isHeld: before.step === 'Announcing' && this.isHeld(index),
      isConcerned: (ids?.concerned.size ?? 0) > 0,
    });
  }

  /** Reports whether another zone cannot learn of new ids now: its proxies would refuse a workload with one. */
  private isHeld(index: IndexReader): boolean {
    const { zone, isCutOff } = this.options;
    if (!isCutOff) return false;
    if (isCutOff()) return true;
    for (const other of index.ofKind('Zone'))
      if (other.id.name !== zone && other.spec['enabled'] !== false && other.status?.['lost'] !== undefined)
        return true;
    return false;
  }

  private dueAt({ step, until = 0 }: PathStep, now: number): ReconcileResult {
    return step === undefined ? {} : { dueAt: until > now ? until : now + POLL_INTERVAL };
  }

  /** Files every Dataplane first: shared ids are complete only after the last one. */
  private *walk(index: IndexReader): Generator<Keys> {
    for (const held of index.ofKind(Dataplane.name)) {
      if (held.id.zone === this.options.zone) this.file(held, identityKey(held.id), index);
      yield NO_KEYS;
    }
    const states = [...index.ofKind(IdentityPathState.name)].filter(({ id }) => id.zone === this.options.zone);
    const meshes = [...[...index.ofKind('Mesh')].map(({ id }) => id.name), ...states.map(({ id }) => id.mesh)];
    yield [...new Set(meshes)].map((mesh) => this.formatKey(mesh));
  }

  /** Files a Dataplane under its ids; returns whether the state of its mesh changes. */
  private file(held: Resource | undefined, key: ResourceKey, index: Pick<IndexReader, 'get'>): boolean {
    const { mesh } = parseIdentityKey(key);
    const ids = this.meshes.get(mesh) ?? new IdsOfMesh();
    this.meshes.set(mesh, ids);
    return ids.set(key, held && this.bearer(held, index));
  }

  private bearer(held: Resource, index: Pick<IndexReader, 'get'>): ConcernedDataplane | undefined {
    const { mesh, namespace } = held.id;
    const identity = Dataplane.is(held) ? selectIdentity(held, this.identities.get(mesh) ?? []) : undefined;
    if (!identity) return undefined;
    const uris = listSpiffeIds(held, identity, readPresetPath(index, held.id));
    return { namespace, uris, isConcerned: isIdByPreset(held, identity) };
  }

  private formatKey(mesh: string): ResourceKey {
    return identityKey(identityPathStateId({ mesh, zone: this.options.zone }));
  }
}

function getStep(spec: IdentityPathStateSpec | undefined): PathStep {
  const { namespaces: _, shared: __, ...step } = spec ?? { signs: 'Workload' };
  return step;
}

/** Returns the stored spec of a step. During a step namespaces are only added: a previous id may be in use after its last Dataplane has gone. */
function stateSpec(
  step: PathStep,
  ids: IdsOfMesh | undefined,
  before: IdentityPathStateSpec | undefined,
): IdentityPathStateSpec {
  const known = before?.step === undefined ? [] : (before.namespaces ?? []);
  const namespaces = [...new Set([...known, ...(ids?.concerned.keys() ?? [])])].sort(compareText);
  const shared = [...(ids?.shared() ?? [])].sort(([a], [b]) => compareText(a, b)).slice(0, MAX_SHARED_IDS);
  return {
    ...step,
    ...(step.step !== undefined && { namespaces: namespaces.slice(0, MAX_STATE_NAMESPACES) }),
    ...(shared.length > 0 && {
      shared: shared.map(([id, among]) => ({ id, namespaces: among.slice(0, MAX_NAMESPACES_SHARING) })),
    }),
  };
}

/** Creates the loop of SPIFFE id forms for a zone's leader. */
export function createIdentityPathLoop(options: IdentityPathOptions): KeyedLoop {
  return new KeyedLoop(new IdentityPathReconciler(options));
}
