import { NO_NAMESPACE, PRODUCER, type Frontend } from '@causeway/routing';
import { levelRank, type CrossNamespace } from '../model/levels';
import type { Policy } from '../model/policy';
import type { Node } from './nodes';

/** The group of paths that end at a service without going through routes. */
export const OWN_BACKEND = 'backend';

/** A view of a frontend in which paths lie: its group decides whose Namespace stands above, and whose policies count. */
export interface Context {
  readonly mesh: string;
  /** The Namespace above; that of the clients in a consumer's context. */
  readonly namespace: string;
  readonly frontend: Frontend;
  /** As routing has it, or `OWN_BACKEND`. */
  readonly group: string;
  /** The namespace whose clients alone the context is of. */
  readonly consumer: string | undefined;
}

/** The context of a frontend and a group. */
export function createContext(frontend: Frontend, group: string): Context {
  const consumer = group.startsWith(CONSUMER) ? group.slice(CONSUMER.length) : undefined;
  return { mesh: frontend.id.mesh, namespace: consumer ?? frontend.namespace, frontend, group, consumer };
}

/** The same of a frontend that is gone, by its key. */
export function contextAt(key: string, group: string): Omit<Context, 'frontend'> {
  const [, mesh = '', , namespace = ''] = key.split('/');
  const consumer = group.startsWith(CONSUMER) ? group.slice(CONSUMER.length) : undefined;
  return { mesh, namespace: consumer ?? (namespace || NO_NAMESPACE), group, consumer };
}

const CONSUMER = 'consumer:';
export const consumerGroup = (namespace: string): string => `${CONSUMER}${namespace}`;
export const isGatewayGroup = (group: string): boolean => group.startsWith('gateway:');
/** The group whose routes hold where a context has none of its own. */
export const findFallbackGroup = (group: string): string => (group.startsWith(CONSUMER) ? PRODUCER : group);

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
