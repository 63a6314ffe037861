import { isJsonArray, isJsonObject } from '@causeway/resources';
import type { ProxyFacts } from '@causeway/store';

/**
 * What a replica wrote of a proxy; undefined where a replica of another version wrote what cannot be read. Only replicas of this
 * control plane write it, so the parts are not looked at one by one.
 */
export function decodeProxyFacts(value: unknown): ProxyFacts | undefined {
  if (!isJsonObject(value)) return undefined;
  const lists = ['types', 'rejected', 'refused'].every((field) => isJsonArray(value[field]));
  const texts = ['kind', 'node', 'address', 'userAgent', 'form'].every((field) => typeof value[field] === 'string');
  const isWhole = lists && texts && typeof value['since'] === 'number' && typeof value['isSettled'] === 'boolean';
  return isWhole ? (value as unknown as ProxyFacts) : undefined;
}
