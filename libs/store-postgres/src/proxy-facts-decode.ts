import { isJsonArray, isJsonObject } from '@causeway/resources';
import type { ProxyFacts } from '@causeway/store';

/**
 * Decodes the facts that a replica wrote about a proxy; undefined if a replica of another version wrote an unreadable form. Only replicas of this
 * control plane write them, so the parts are not checked one by one.
 */
export function decodeProxyFacts(value: unknown): ProxyFacts | undefined {
  if (!isJsonObject(value)) return undefined;
  const lists = ['types', 'rejected', 'refused'].every((field) => isJsonArray(value[field]));
  const texts = ['kind', 'node', 'address', 'userAgent', 'form'].every((field) => typeof value[field] === 'string');
  const isWhole = lists && texts && typeof value['since'] === 'number' && typeof value['isSettled'] === 'boolean';
  return isWhole ? (value as unknown as ProxyFacts) : undefined;
}
