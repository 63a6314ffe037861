import type { Meshes } from '@causeway/meshes';
import { globalIdentity, identityKey, jsonEqual, type JsonObject, type ResourceKey } from '@causeway/resources';
import type { IndexChange, IndexReader } from '@causeway/store';
import {
  KeyedLoop,
  NO_KEYS,
  RESCAN,
  type KeyedReconciler,
  type Keys,
  type ReconcileResult,
  type ControlLoop,
} from '@causeway/loops';
import { DefaultIdentityLoop } from './default-identity-loop';
import { ExpectedMeshLoop, type ExpectedMeshConfig } from './expected-mesh-loop';
import { believedDomains, isTrustedHere } from '../trust/believed-domains';
import { planMesh, type MeshAccessStatus, type MeshAcceptor } from './plan-mesh';

/** Configuration of the status of Meshes. */
interface MeshStatusConfig {
  readonly meshes: Meshes;
  readonly acceptor: MeshAcceptor;
  readonly features: readonly JsonObject[];
}

/**
 * Writes on every Mesh of ours whether this control plane accepts it, its supported features, and who may call its workloads (docs/design.md §4 mesh;
 * rows T000-09 to T000-12, T000-38). It never writes a spec or labels, and nothing on a Mesh of another controller.
 */
class MeshReconciler implements KeyedReconciler {
  readonly name = 'mesh';

  constructor(private readonly config: MeshStatusConfig) {}

  *seed(index: IndexReader): Iterable<Keys> {
    for (const { id } of index.ofKind('Mesh')) yield [identityKey(id)];
  }

  /** A changed Mesh may free or take the address ranges of another: then all Meshes are planned, as for a changed referent. */
  listKeys({ id, key, before, after }: IndexChange): readonly (ResourceKey | typeof RESCAN)[] {
    if (id.kind === 'MeshParameters' || id.kind === 'ConfigMap') return [RESCAN];
    if (this.zone !== undefined && isTrustedHere(id, this.zone)) return [identityKey(globalIdentity('Mesh', id.mesh))];
    if (id.kind !== 'Mesh') return NO_KEYS;
    return jsonEqual(before?.spec, after?.spec) ? [key] : [RESCAN, key];
  }

  reconcile(key: ResourceKey, index: IndexReader, now: number): ReconcileResult | undefined {
    const mesh = index.byIdentityKey(key);
    const { meshes, acceptor, features } = this.config;
    const state = mesh && meshes.state(mesh.id.name);
    if (!mesh || state?.claim !== 'ours') return undefined;
    const access = state.access && { ...state.access, ...this.evaluateTrust(mesh.id.name, index) };
    return { change: planMesh(mesh, { fault: state.fault, access, acceptor, features }, now) };
  }

  /** The zone whose proxies this control plane serves. */
  private get zone(): string | undefined {
    const { controlPlane } = this.config.acceptor;
    return controlPlane.role === 'zone' ? controlPlane.zone : undefined;
  }

  private evaluateTrust(mesh: string, index: IndexReader): Pick<MeshAccessStatus, 'trustDomains'> {
    return this.zone === undefined ? {} : { trustDomains: believedDomains(index, mesh, this.zone) };
  }
}

/** Configuration of the loops of Meshes. */
export type MeshLoopsConfig = ExpectedMeshConfig & MeshStatusConfig;

/** Creates the loops of Meshes, for one term of the leader of any control plane. */
export function createMeshLoops(config: MeshLoopsConfig): readonly ControlLoop[] {
  return [new ExpectedMeshLoop(config), new KeyedLoop(new MeshReconciler(config)), new DefaultIdentityLoop(config)];
}
