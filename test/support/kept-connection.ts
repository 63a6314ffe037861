import type { ClientRequest } from 'node:http';

/**
 * Reports whether a request failed because the server had closed the kept connection before, as a proxy does whose listener is replaced. HTTP clients
 * send such a request again.
 */
export function isClosedBefore({ reusedSocket }: Pick<ClientRequest, 'reusedSocket'>, error: Error): boolean {
  return reusedSocket && 'code' in error && error.code === 'ECONNRESET';
}
