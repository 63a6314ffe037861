import type { AccessRequest } from '@causeway/policies';
import { identityKey, type Identity } from '@causeway/resources';
import type { Explanation } from '@causeway/routing';

/** Destination of a share of equal requests, and the request as it arrives there. */
export interface Backend {
  readonly service: Identity;
  readonly port: number;
  /** The request as the service receives it; undefined for connections. */
  readonly request?: AccessRequest;
}

/** Maximum number of listed backends of one request: copies of services in as many zones. */
const MAX_BACKENDS = 64;

/** Returns the backends to which an explained request may go, each once per form of the request; the first 64. */
export function listBackends({ outcome }: Explanation): readonly Backend[] {
  if (outcome.type !== 'routed' && outcome.type !== 'implicit') return [];
  const found = new Map<string, Backend>();
  for (const { result } of outcome.shares) {
    if (result.type === 'refused') continue;
    const { services, port } = result.destination;
    const sent = result.request;
    const request = sent?.protocol === 'http' ? { method: sent.method, path: sent.path } : undefined;
    for (const service of services) {
      const key = `${identityKey(service)} ${port} ${request?.method ?? ''} ${request?.path ?? ''}`;
      found.set(key, { service, port, ...(request ? { request } : {}) });
    }
  }
  return [...found.values()].slice(0, MAX_BACKENDS);
}
