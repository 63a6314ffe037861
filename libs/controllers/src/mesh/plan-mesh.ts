import {
  jsonEqual,
  withCondition,
  type Condition,
  type ControlPlane,
  type JsonObject,
  type Resource,
} from '@causeway/resources';
import type { PatchChange } from '@causeway/store';

/** The condition by which a control plane says whether it serves a Mesh as its spec asks (GEP-3949). */
const ACCEPTED = 'Accepted';

/** Who accepts a Mesh. Nothing of it changes with the leader (row T000-10). */
export interface MeshAcceptor {
  readonly controlPlane: ControlPlane;
  /** Version of the product. */
  readonly version: string;
  /** Id of the store, which all replicas of the control plane share. */
  readonly storeId: string;
}

/** What is to be said of a Mesh of ours. */
export interface MeshVerdict {
  /** Why its parameters are refused; undefined where it is accepted. */
  readonly fault?: string | undefined;
  readonly acceptor: MeshAcceptor;
  /** `status.supportedFeatures` of an accepted Mesh, as it is stored. */
  readonly features: readonly JsonObject[];
}

/**
 * The patch that brings the status of a Mesh of ours up to date; undefined when it is. Acceptance and the features are one
 * write: an accepted Mesh always lists its features, none as an empty list; a rejected Mesh has no such list (rows T000-12,
 * T000-35).
 */
export function planMesh(mesh: Resource, verdict: MeshVerdict, now: number): PatchChange | undefined {
  const { fault, acceptor, features } = verdict;
  const before = mesh.status ?? {};
  const { supportedFeatures, ...others } = before;
  const wanted = fault === undefined ? features : undefined;
  const isSupported = jsonEqual(supportedFeatures, wanted);
  const base = isSupported ? before : { ...others, ...(wanted ? { supportedFeatures: wanted } : {}) };
  const status = withCondition(base, acceptedCondition(mesh, fault ?? acceptance(acceptor), fault === undefined), now);
  return status === before ? undefined : { type: 'patch', id: mesh.id, expect: mesh.revision, status };
}

function acceptedCondition({ generation }: Resource, message: string, isAccepted: boolean): Condition {
  const verdict = isAccepted
    ? ({ status: 'True', reason: 'Accepted' } as const)
    : ({ status: 'False', reason: 'InvalidParameters' } as const);
  return { type: ACCEPTED, ...verdict, message, observedGeneration: generation };
}

function acceptance({ controlPlane, version, storeId }: MeshAcceptor): string {
  const name = controlPlane.role === 'global' ? 'global' : controlPlane.zone;
  const who = `${controlPlane.role} control plane "${name}", cluster ${storeId}`;
  return `Mesh resource accepted by Causeway v${version} (${who})`;
}
