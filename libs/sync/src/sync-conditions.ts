import { withConditionsFrom, type JsonObject } from '@causeway/resources';

/**
 * Types of the conditions in which a control plane reports the sync state of a resource. A condition is present only
 * while it is true (`status: True`). Each control plane sets its own; they are not sent to peers.
 */
export const SyncCondition = {
  /** A new incarnation of the peer lacks the resource; it is kept for a time. */
  held: 'Held',
  /** The zone of origin is lost. */
  originLost: 'OriginLost',
  /** The Mesh of the resource does not exist. */
  meshMissing: 'MeshMissing',
  /** The resource came by sync, and the Meshes here assign its namespace to another mesh, or to several. */
  membershipConflict: 'MembershipConflict',
  /** The resource came by sync and breaks a validation rule. */
  rulesBroken: 'RulesBroken',
  /** The resource cannot be expressed in Kuma's messages, so Kuma zones do not get it. */
  unsupportedByKuma: 'UnsupportedByKuma',
  /** Callers verify the service by the authority of `Mesh.mtls`, whose key every Kuma zone has. */
  meshMtls: 'MeshMtls',
  /** The MeshTrust of a zone is ignored: its trust domain is not the zone's, or another one has it. */
  trustRefused: 'TrustRefused',
} as const;

/**
 * Conditions of this control plane that stay when a peer sends a status. `Held` does not: a resource that the peer names is no longer held.
 */
const OWN_CONDITIONS: readonly string[] = Object.values(SyncCondition).filter((type) => type !== SyncCondition.held);

/** Returns the status that a peer sent, with the conditions that this control plane has set on its copy. */
export function withOwnConditions(received: JsonObject, held: JsonObject = {}): JsonObject {
  return withConditionsFrom(received, OWN_CONDITIONS, held);
}
