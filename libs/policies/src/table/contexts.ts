import { type ResourceKey, parseIdentityKey } from '@causeway/resources';
import { NO_NAMESPACE, PRODUCER, type Frontend, consumerOfGroup, type FrontendGroup } from '@causeway/routing';
import { levelRank, type CrossNamespace } from '../model/levels';
import type { Policy } from '../model/policy';
import type { Node } from './nodes';

/** A view of a frontend that contains paths: its group decides which Namespace is above, and which policies apply. */
export interface Context {
  readonly mesh: string;
  /** The Namespace above; in a consumer's context that of the clients. */
  readonly namespace: string;
  readonly frontend: Frontend;
  /** A group of routing, or `OWN_BACKEND`. */
  readonly group: FrontendGroup;
  /** The namespace of the clients, if the context applies only to those. */
  readonly consumer: string | undefined;
}

/** Returns the context of a frontend and a group. */
export function createContext(frontend: Frontend, group: FrontendGroup): Context {
  const consumer = consumerOfGroup(group);
  return { mesh: frontend.id.mesh, namespace: consumer ?? frontend.namespace, frontend, group, consumer };
}

/** Returns the context of a deleted frontend, by its key. */
export function contextAt(key: ResourceKey, group: FrontendGroup): Omit<Context, 'frontend'> {
  const { mesh, namespace } = parseIdentityKey(key);
  const consumer = consumerOfGroup(group);
  return { mesh, namespace: consumer ?? (namespace || NO_NAMESPACE), group, consumer };
}

/** Returns the group whose routes apply if a context has none of its own. */
export const findFallbackGroup = (group: FrontendGroup): FrontendGroup =>
  consumerOfGroup(group) === undefined ? group : PRODUCER;

/**
 * Returns whether a policy on a node applies in a context. A policy of another namespace that may only change its own clients applies
 * to those alone (T004-09); policies on the frontend and its own routes do not apply to consumers, who have a context of their own.
 */
export function appliesIn(
  { consumer }: Pick<Context, 'consumer'>,
  node: Node,
  { id }: Policy,
  crossNamespace: CrossNamespace,
): boolean {
  const { level, namespace } = node;
  if (level === 'Mesh' || level === 'Namespace' || level === 'Virtual') return true;
  const isForeign = id.namespace !== namespace;
  if (isForeign && crossNamespace === 'ClientSide') return consumer === id.namespace;
  if (consumer === undefined || levelRank(level) >= levelRank('Backend')) return true;
  const isOwnRoute = levelRank(level) >= levelRank('Route') && namespace === consumer;
  return isOwnRoute || id.namespace === consumer;
}
