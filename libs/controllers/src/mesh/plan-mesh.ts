import type { MeshAccess } from '@causeway/meshes';
import {
  isJsonArray,
  isJsonObject,
  jsonEqual,
  withCondition,
  type Condition,
  type ControlPlane,
  type JsonObject,
  type JsonValue,
  type Resource,
} from '@causeway/resources';
import type { PatchChange } from '@causeway/store';

/** The condition that states whether a control plane serves a Mesh according to its spec (GEP-3949). */
const ACCEPTED = 'Accepted';

/** The control plane that accepts a Mesh; independent of the leader (row T000-10). */
export interface MeshAcceptor {
  readonly controlPlane: ControlPlane;
  /** Version of the product. */
  readonly version: string;
  /** Id of the store, which all replicas of the control plane share. */
  readonly storeId: string;
}

/** The callers of the workloads of a Mesh: its settings, and in a zone the trusted domains, sorted. */
export interface MeshAccessStatus extends Pick<MeshAccess, 'mtls' | 'defaultAccess'> {
  readonly trustDomains?: readonly string[];
}

/** Desired status of a Mesh of this control plane. */
export interface MeshEvaluation {
  /** The reason why its parameters are refused; undefined if it is accepted. */
  readonly fault?: string | undefined;
  /** Undefined while unknown: the written status stays. */
  readonly access?: MeshAccessStatus | undefined;
  readonly acceptor: MeshAcceptor;
  /** `status.supportedFeatures` of an accepted Mesh, in its stored form. */
  readonly features: readonly JsonObject[];
}

/**
 * Returns the patch that updates the status of a Mesh of ours; undefined if it is up to date. Acceptance and features are one write: an accepted Mesh
 * always lists its features, possibly an empty list; a rejected Mesh has no such list (rows T000-12, T000-35).
 */
export function planMesh(mesh: Resource, evaluation: MeshEvaluation, now: number): PatchChange | undefined {
  const { fault, access, acceptor, features } = evaluation;
  const stored = mesh.status ?? {};
  const before = access ? withAccess(stored, access) : stored;
  const { supportedFeatures, ...others } = before;
  const wanted = fault === undefined ? features : undefined;
  const isSupported = jsonEqual(supportedFeatures, wanted);
  const base = isSupported ? before : { ...others, ...(wanted ? { supportedFeatures: wanted } : {}) };
  const status = withCondition(base, acceptedCondition(mesh, fault ?? acceptance(acceptor), fault === undefined), now);
  return status === stored ? undefined : { type: 'patch', id: mesh.id, expect: mesh.revision, status };
}

/**
 * Returns `status.access`. Its `narrowed` counts how often a trust domain was removed: proxies then close existing connections. Nothing else would
 * close them, because a connection is checked only when it begins.
 */
function withAccess(status: JsonObject, { mtls, defaultAccess, trustDomains }: MeshAccessStatus): JsonObject {
  const former = isJsonObject(status['access']) ? status['access'] : {};
  const narrowed = typeof former['narrowed'] === 'number' ? former['narrowed'] : 0;
  const believed = new Set<JsonValue>(trustDomains);
  const isNarrower = isJsonArray(former['trustDomains']) && !former['trustDomains'].every((each) => believed.has(each));
  const ofZone = trustDomains && { trustDomains, narrowed: isNarrower ? narrowed + 1 : narrowed };
  const access: JsonObject = { mtls, defaultAccess, ...ofZone };
  return jsonEqual(former, access) ? status : { ...status, access };
}

function acceptedCondition({ generation }: Resource, message: string, isAccepted: boolean): Condition {
  const evaluation = isAccepted
    ? ({ status: 'True', reason: 'Accepted' } as const)
    : ({ status: 'False', reason: 'InvalidParameters' } as const);
  return { type: ACCEPTED, ...evaluation, message, observedGeneration: generation };
}

function acceptance({ controlPlane, version, storeId }: MeshAcceptor): string {
  const name = controlPlane.role === 'global' ? 'global' : controlPlane.zone;
  const who = `${controlPlane.role} control plane "${name}", cluster ${storeId}`;
  return `Mesh resource accepted by Causeway v${version} (${who})`;
}
