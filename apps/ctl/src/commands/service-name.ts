import type { JsonObject } from '@causeway/resources';
import { objectAt, textAt } from '../render';

/** The service that a line of an answer is about: `MeshService east/default/redis`. */
export function serviceName(line: JsonObject): string {
  const service = objectAt(line, 'service');
  const path = ['zone', 'namespace', 'name'].map((key) => textAt(service, key)).filter((part) => part !== '');
  return `${textAt(service, 'kind')} ${path.join('/')}`;
}
