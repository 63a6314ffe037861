import { type ResourceKey, parseIdentityKey } from '@causeway/resources';
import { NO_NAMESPACE, PRODUCER, type Frontend, consumerOfGroup, type FrontendGroup } from '@causeway/routing';
import { levelRank, type CrossNamespace } from '../model/levels';
import type { Policy } from '../model/policy';
import type { Node } from './nodes';

/** A view of a frontend in which paths lie: its group decides whose Namespace stands above, and whose policies count. */
export interface Context {
  readonly mesh: string;
  /** The Namespace above; that of the clients in a consumer's context. */
  readonly namespace: string;
  readonly frontend: Frontend;
  /** As routing has it, or `OWN_BACKEND`. */
  readonly group: FrontendGroup;
  /** The namespace whose clients alone the context is of. */
  readonly consumer: string | undefined;
}

/** The context of a frontend and a group. */
export function createContext(frontend: Frontend, group: FrontendGroup): Context {
  const consumer = consumerOfGroup(group);
  return { mesh: frontend.id.mesh, namespace: consumer ?? frontend.namespace, frontend, group, consumer };
}

/** The same of a frontend that is gone, by its key. */
export function contextAt(key: ResourceKey, group: FrontendGroup): Omit<Context, 'frontend'> {
  const { mesh, namespace } = parseIdentityKey(key);
  const consumer = consumerOfGroup(group);
  return { mesh, namespace: consumer ?? (namespace || NO_NAMESPACE), group, consumer };
}

/** The group whose routes hold where a context has none of its own. */
export const findFallbackGroup = (group: FrontendGroup): FrontendGroup =>
  consumerOfGroup(group) === undefined ? group : PRODUCER;

/**
 * Whether a policy on a node counts in a context. A policy of another namespace that may only change what its own clients do counts for
 * those alone (T004-09); what stands on the frontend and its own routes is not for consumers, who have a context of their own.
 */
export function countsIn(
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
