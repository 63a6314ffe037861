import { createPublicKey } from 'node:crypto';
import { Label } from '@causeway/resources';
import { AUTHORITY_SECRET } from '@causeway/access';
import type { WireResource } from '../wire/wire-resource';

const SIGNING_KEY = 'zone-token-signing-key';
const PUBLIC_KEY = 'zone-token-signing-public-key';
const WITHHELD = new Set([
  'envoy-admin-ca',
  'admin-user-token',
  'inter-cp-ca',
  'user-token-revocations',
  AUTHORITY_SECRET,
]);
const WITHHELD_PREFIX = 'user-token-signing-key';

/** Whether it is a secret that never leaves the global (docs/reference/kds-wire.md §4.2). */
export function isWithheldSecret({ kind, name }: Pick<WireResource, 'kind' | 'name'>): boolean {
  return kind === 'GlobalSecret' && (WITHHELD.has(name) || name.startsWith(WITHHELD_PREFIX));
}

/**
 * Replaces a signing key of zone tokens by its public half, under another name; other resources are returned unchanged
 * (docs/reference/kds-wire.md §4.2 Mappers 2). Throws if the key cannot be read, so that it is not sent.
 */
export function withPublicKeyOnly(resource: WireResource): WireResource {
  const { kind, name, labels, spec } = resource;
  if (kind !== 'GlobalSecret' || !name.startsWith(SIGNING_KEY)) return resource;
  const pem = Buffer.from(typeof spec['data'] === 'string' ? spec['data'] : '', 'base64');
  const key = createPublicKey(pem).export({ type: 'pkcs1', format: 'pem' });
  return {
    ...resource,
    name: PUBLIC_KEY + name.slice(SIGNING_KEY.length),
    labels: { [Label.displayName]: name, ...labels },
    spec: { data: Buffer.from(key).toString('base64') },
  };
}
