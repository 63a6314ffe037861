import type { JsonObject } from '@causeway/resources';
import { textAt } from '../../render';

/** What names a resource in a request. */
export interface Reference {
  readonly mesh: string;
  readonly zone: string;
  readonly namespace: string;
  readonly name: string;
}

/** The reference of a document; the zone is empty for what the global made. */
export function referenceOf(body: JsonObject): Reference {
  const [mesh, namespace, name] = ['mesh', 'namespace', 'name'].map((key) => textAt(body, key));
  return {
    mesh: mesh ?? '',
    namespace: namespace ?? '',
    name: name ?? '',
    zone: textAt(body, 'labels', 'kuma.io/zone'),
  };
}
