import { withConditionsOf, type JsonObject } from '@causeway/resources';

/**
 * Types of the conditions by which a control plane says what sync knows of a resource that it holds. Each stands while
 * it is so (`status: True`) and is taken away afterwards. They are each control plane's own and cross no border.
 */
export const SyncCondition = {
  /** A new life of the peer does not name it; it is kept for a time. */
  held: 'Held',
  /** The zone it was made in is lost. */
  originLost: 'OriginLost',
  /** Its Mesh does not exist. */
  meshMissing: 'MeshMissing',
  /** It came by sync and breaks a rule of ours. */
  rulesBroken: 'RulesBroken',
  /** Kuma zones cannot be told of it. */
  unsupportedByKuma: 'NotSaidToKuma',
} as const;

/** What a peer names is held no longer: what was said of that ends when a status arrives. */
const OWN_CONDITIONS: readonly string[] = Object.values(SyncCondition).filter((type) => type !== SyncCondition.held);

/** A status as a peer tells it, with what this control plane has itself said of the copy that it holds. */
export function withOwnConditions(told: JsonObject, held: JsonObject = {}): JsonObject {
  return withConditionsOf(told, OWN_CONDITIONS, held);
}
