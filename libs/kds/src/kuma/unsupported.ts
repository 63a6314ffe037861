import type { Kind, Resource } from '@causeway/resources';
import { KUMA_DIALECT } from '../wire/dialect';
import type { KumaOptions } from './translation';
import { kumaTranslation } from './translations';
import { toWireResource } from '../wire/wire-resource';
import { isWithheldSecret } from './secrets';
import { ResourceEncoder } from '../wire/resource-encoder';

/**
 * Asks of resources that a global holds why Kuma zones cannot be told of them; undefined where they can be, or are not
 * to be. Said of the resource alone, whoever is connected. What leaves as JSON can always be said.
 */
export function unsupportedByKuma(options?: KumaOptions): (resource: Resource, kind: Kind) => string | undefined {
  const global = { role: 'global' } as const;
  const encoder = new ResourceEncoder(global, options);
  return (resource, kind) => {
    if (kind.sync.down === 'nothing' || kind.sync.peers === 'causeway') return undefined;
    if (kumaTranslation(kind.name).proto === undefined) return undefined;
    const wire = toWireResource(resource, global, KUMA_DIALECT);
    const encoding = isWithheldSecret(wire) ? undefined : encoder.encodeWire(wire, KUMA_DIALECT);
    return encoding?.ok === false ? encoding.reason : undefined;
  };
}
