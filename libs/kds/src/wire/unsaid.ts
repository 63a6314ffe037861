import type { Kind, Resource } from '@causeway/resources';
import { KUMA_DIALECT } from './dialect';
import type { KumaOptions } from './language/kuma-language';
import { kumaLanguage } from './language/languages';
import { wireResource } from './outgoing';
import { isWithheldSecret } from './outgoing-secret';
import { ResourceEncoder } from './resource-encoder';

/**
 * Asks of resources that a global holds why Kuma zones cannot be told of them; undefined where they can be, or are not
 * to be. Said of the resource alone, whoever is connected. What leaves as JSON can always be said.
 */
export function kumaFaults(options?: KumaOptions): (resource: Resource, kind: Kind) => string | undefined {
  const global = { role: 'global' } as const;
  const encoder = new ResourceEncoder(global, options);
  return (resource, kind) => {
    if (kind.sync.down === 'nothing' || kind.sync.peers === 'causeway') return undefined;
    if (kumaLanguage(kind.name).proto === undefined) return undefined;
    const wire = wireResource(resource, global, KUMA_DIALECT);
    const encoding = isWithheldSecret(wire) ? undefined : encoder.encodeWire(wire, KUMA_DIALECT);
    return encoding?.ok === false ? encoding.reason : undefined;
  };
}
