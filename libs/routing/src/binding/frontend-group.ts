/**
 * Part of the requests to a frontend, with its own route bindings (GEP-1426): those of all clients in no other group,
 * those of the clients of one namespace, those that come through one Gateway; `backend`: requests forwarded to the
 * service by a route, which bypass its own routes; policies treat them separately.
 */
export type FrontendGroup = 'producer' | 'backend' | `consumer:${string}` | `gateway:${string}`;

/** The parts of a FrontendGroup. */
export type FrontendGroupParts =
  | { readonly type: 'producer' | 'backend' }
  | { readonly type: 'consumer'; readonly namespace: string }
  /** `namespace/name`, as in `Client`. */
  | { readonly type: 'gateway'; readonly gateway: string };

/** Group of the producer's routes: they apply to clients without routes of their own. */
export const PRODUCER: FrontendGroup & 'producer' = 'producer';

/** Group of requests that reach a service without going through its routes. */
export const OWN_BACKEND: FrontendGroup & 'backend' = 'backend';

const CONSUMER = 'consumer:';
const GATEWAY = 'gateway:';

/** Returns the group of these parts. */
export function formatFrontendGroup(parts: FrontendGroupParts): FrontendGroup {
  switch (parts.type) {
    case 'consumer':
      return `consumer:${parts.namespace}`;
    case 'gateway':
      return `gateway:${parts.gateway}`;
    default:
      return parts.type;
  }
}

/** Returns the parts of a group. */
export function parseFrontendGroup(group: FrontendGroup): FrontendGroupParts {
  if (group === PRODUCER || group === OWN_BACKEND) return { type: group };
  if (group.startsWith(CONSUMER)) return { type: 'consumer', namespace: group.slice(CONSUMER.length) };
  return { type: 'gateway', gateway: group.slice(GATEWAY.length) };
}

/** Returns the group of the clients of one namespace. */
export function consumerGroup(namespace: string): FrontendGroup {
  return formatFrontendGroup({ type: 'consumer', namespace });
}

/** Returns the group of the requests that come through one Gateway, `namespace/name`. */
export function gatewayGroup(gateway: string): FrontendGroup {
  return formatFrontendGroup({ type: 'gateway', gateway });
}

/** Returns the namespace of a consumer's group; undefined for other groups. */
export function consumerOfGroup(group: FrontendGroup): string | undefined {
  const parts = parseFrontendGroup(group);
  return parts.type === 'consumer' ? parts.namespace : undefined;
}

/** Whether a group contains the requests that come through a Gateway. */
export function isGatewayGroup(group: FrontendGroup): boolean {
  return parseFrontendGroup(group).type === 'gateway';
}
