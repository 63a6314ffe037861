import type { Kind, Resource } from '@causeway/resources';
import { KUMA_DIALECT } from './dialect';
import { type KumaOptions, kumaTranslation } from '@causeway/kuma';
import { toWireResource } from './wire-resource';
import { isLocalSecret } from './secrets';
import { ResourceEncoder } from './resource-encoder';

/**
 * Returns a function that returns why a resource of the global cannot be sent to Kuma zones; undefined if it can be, or
 * is not for Kuma zones. Depends on the resource only, not on the connected zones. Of the kinds that Kuma sends as JSON
 * only a MeshExternalService may be unsupported: if its trust cannot be read.
 */
export function unsupportedByKuma(options?: KumaOptions): (resource: Resource, kind: Kind) => string | undefined {
  const global = { role: 'global' } as const;
  const encoder = new ResourceEncoder(global, options);
  return (resource, kind) => {
    if (kind.sync.down === 'nothing' || kind.sync.peers === 'causeway') return undefined;
    if (kumaTranslation(kind.name).proto === undefined && kind.name !== 'MeshExternalService') return undefined;
    const wire = toWireResource(resource, global, KUMA_DIALECT);
    const encoding = isLocalSecret(wire) ? undefined : encoder.encodeWire(wire, KUMA_DIALECT);
    return encoding?.ok === false ? encoding.reason : undefined;
  };
}
