import {
  globalIdentity,
  identityKey,
  jsonEqual,
  Label,
  type ControlPlane,
  type Identity,
  type Registry,
  type Resource,
  type ResourceKey,
} from '@causeway/resources';
import { findEnabledBackend, enrolledDataplane, findEnrolment, findOldCredential } from '@causeway/identity';
import { Enrolment } from '@causeway/kinds';
import { designate, type Meshes } from '@causeway/meshes';
import type { IndexChange, IndexReader } from '@causeway/store';
import { readLostState } from '@causeway/sync';
import { KeyedLoop, RESCAN, type KeyedReconciler, type Keys, type ReconcileResult } from '@causeway/loops';
import { planConditions, type ConditionInputs, type MeshFault } from './plan-conditions';

/** Settings of the conditions reconciler. */
export interface ConditionsConfig {
  readonly cp: ControlPlane;
  readonly registry: Registry;
  readonly meshes: Pick<Meshes, 'state' | 'owner' | 'listCandidates'>;
  /** Returns the reason why a resource cannot be sent to Kuma zones; set on the global. */
  readonly unsupportedByKuma?: ConditionInputs['unsupportedByKuma'];
}

/**
 * Writes the conditions that sync gives a resource: its zone is lost, its Mesh is missing, its namespace belongs to another mesh, it breaks a
 * tolerated rule, Kuma cannot represent it, `Mesh.mtls` authenticates it (docs/reference/sync.md Conditions); and that the host of a Dataplane uses a
 * credential from before enrolments. A change of a Zone, Mesh or Namespace costs one walk, and one write for each resource that it concerns; a
 * resource without such a condition is never written.
 */
class ConditionsReconciler implements KeyedReconciler {
  readonly name = 'conditions';
  /**
   * A message of the zone may reset the status before the index shows our write, and an index that never contained a condition does not show its
   * removal.
   */
  readonly recheckWritten = true;
  /** Filters of the resources for which the walk searches. */
  private wanted: ((id: Identity) => boolean)[] = [];

  constructor(private readonly config: ConditionsConfig) {}

  seed(index: IndexReader, reason: 'reset' | 'rescan'): Iterable<Keys> {
    if (reason === 'reset') this.wanted = [() => true];
    return this.walk(index);
  }

  listKeys(change: IndexChange): readonly (ResourceKey | typeof RESCAN)[] {
    if (change.id.kind === Enrolment.name) return [identityKey(enrolledDataplane(change.id))];
    const key = affectsConditions(change) ? [change.key] : [];
    const dependents = findDependents(change);
    if (!dependents) return key;
    this.wanted.push(dependents);
    return [RESCAN, ...key];
  }

  reconcile(key: ResourceKey, index: IndexReader, now: number): ReconcileResult | undefined {
    const resource = index.byIdentityKey(key);
    const kind = resource && this.config.registry.kind(resource.id.kind);
    return kind && { change: planConditions(resource, kind, this.inputs(index), now) };
  }

  /** A restarted walk also covers the resources of the walk that it replaces. */
  private *walk(index: IndexReader): Generator<Keys> {
    for (const { name } of this.config.registry.kinds) {
      for (const { id } of index.ofKind(name)) {
        yield this.wanted.some((isWanted) => isWanted(id)) ? [identityKey(id)] : [];
      }
    }
    this.wanted = [];
  }

  private inputs(index: IndexReader): ConditionInputs {
    const { cp, meshes, unsupportedByKuma = () => undefined } = this.config;
    return {
      cp,
      meshFault: (mesh) => meshFault(meshes, mesh),
      designation: ({ namespace, mesh }) => designate(meshes, namespace, mesh),
      lostState: ({ zone, mesh }) => {
        const found = index.get(globalIdentity('Zone', zone));
        return found && readLostState(found, mesh);
      },
      unsupportedByKuma,
      oldCredential: (dataplane) => {
        const enrolment = findEnrolment(index, dataplane);
        return enrolment && findOldCredential(enrolment);
      },
      hasMeshMtls: (mesh) => findEnabledBackend(index.get(globalIdentity('Mesh', mesh))?.spec) !== undefined,
    };
  }
}

/** Creates the conditions reconciler as a control loop. */
export function createConditionsReconciler(config: ConditionsConfig): KeyedLoop {
  return new KeyedLoop(new ConditionsReconciler(config));
}

/**
 * Returns a filter of the resources that depend on a Mesh that came or went, selects other namespaces or has another `mtls`; on the labels of a
 * Namespace; or on a Zone that was lost or is back; undefined for other changes.
 */
function findDependents({ id, before, after }: IndexChange): ((dependent: Identity) => boolean) | undefined {
  if (id.kind === 'Mesh') {
    const moves = !sameMembership(before, after);
    const authority = findEnabledBackend(before?.spec) !== findEnabledBackend(after?.spec);
    const goes = before?.spec['controllerName'] !== after?.spec['controllerName'] || authority || !before || !after;
    return moves || goes ? ({ mesh, namespace }) => mesh === id.name || (moves && namespace !== '') : undefined;
  }
  if (id.kind === 'Namespace' && !jsonEqual(before?.labels, after?.labels))
    return ({ namespace }) => namespace === id.name;
  if (id.kind === 'Zone' && !sameLoss(before, after)) return ({ zone }) => zone === id.name;
  return undefined;
}

/** Reports whether a change affects the conditions or their inputs: most writes of other loops do not. */
function affectsConditions({ before, after }: IndexChange): boolean {
  if (!before || !after) return after !== undefined;
  return !(
    before.generation === after.generation &&
    jsonEqual(before.spec, after.spec) &&
    jsonEqual(before.labels, after.labels) &&
    jsonEqual(before.status?.['conditions'], after.status?.['conditions'])
  );
}

/** Rows T000-07, T000-22: nothing is served of a Mesh that is missing or belongs to another controller. */
function meshFault(meshes: Pick<Meshes, 'state'>, mesh: string): MeshFault | undefined {
  const state = meshes.state(mesh);
  if (!state) {
    const message = `there is no Mesh "${mesh}": this is sent to no other zone and gets no hostname`;
    return { reason: 'NoSuchMesh', message };
  }
  if (state.claim !== 'foreign') return undefined;
  const controller = state.resource?.spec.controllerName ?? '';
  const message = `Mesh "${mesh}" belongs to the controller "${controller}": this gets no address and no hostname here, and is sent to no other zone`;
  return { reason: 'ForeignMesh', message };
}

/** Reports whether a Mesh selects the same namespaces as before. */
function sameMembership(before: Resource | undefined, after: Resource | undefined): boolean {
  const [was, is] = [before, after].map((mesh) => [
    mesh?.spec['namespaceSelector'] ?? null,
    mesh?.spec['controllerName'] ?? null,
    mesh?.labels[Label.terminating] ?? null,
  ]);
  const selects = [before, after].some((mesh) => mesh?.spec['namespaceSelector'] !== undefined);
  return !selects || jsonEqual(was, is);
}

function sameLoss(before: Resource | undefined, after: Resource | undefined): boolean {
  return jsonEqual(before?.status?.['lost'], after?.status?.['lost']);
}
