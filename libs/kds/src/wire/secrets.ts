import { createPublicKey } from 'node:crypto';
import { Label, type JsonObject } from '@causeway/resources';
import { AUTHORITY_SECRET } from '@causeway/access';
import { isMeshAuthorityKey, openSealedText, SEALED_LABEL, sealSpec, type SealingKeys } from '@causeway/identity';
import type { Dialect } from './dialect';
import type { WireResource } from './wire-resource';

const SIGNING_KEY = 'zone-token-signing-key';
const PUBLIC_KEY = 'zone-token-signing-public-key';
const LOCAL_SECRETS = new Set([
  'envoy-admin-ca',
  'admin-user-token',
  'inter-cp-ca',
  'user-token-revocations',
  AUTHORITY_SECRET,
]);
const LOCAL_PREFIX = 'user-token-signing-key';

/** Returns whether the resource is a secret that never leaves the global (docs/reference/kds-wire.md §4.2). */
export function isLocalSecret({ kind, name }: Pick<WireResource, 'kind' | 'name'>): boolean {
  return kind === 'GlobalSecret' && (LOCAL_SECRETS.has(name) || name.startsWith(LOCAL_PREFIX));
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

/**
 * Returns the key of a mesh authority (`Mesh.mtls`) unsealed, as Kuma zones need it; other resources unchanged. Throws
 * for a Causeway zone, which never gets one (I13), and if the key cannot be unsealed.
 */
export function withOpenedKey(resource: WireResource, dialect: Dialect, sealing?: SealingKeys): WireResource {
  if (!isMeshAuthorityKey(resource)) return resource;
  if (dialect.json) throw new TypeError('the key of Mesh.mtls goes to zones of Kuma only');
  const { [SEALED_LABEL]: sealed, ...labels } = resource.labels;
  if (sealed === undefined) return resource;
  const opened = sealing && openSealedText(sealing, resource, resource.spec);
  if (!opened?.ok)
    throw new TypeError(`the key of Mesh.mtls does not open: ${opened?.reason ?? 'no secrets key is set'}`);
  return { ...resource, labels, spec: { data: Buffer.from(opened.text).toString('base64') } };
}

/** Returns the key of a mesh authority sealed, as it is stored; other resources unchanged. */
export function withSealedKey(resource: WireResource, sealing?: SealingKeys): WireResource {
  if (!isMeshAuthorityKey(resource) || !sealing) return resource;
  const { [SEALED_LABEL]: _, ...labels } = resource.labels;
  const spec: JsonObject = sealSpec(sealing, resource, readText(resource.spec));
  return { ...resource, labels: { ...labels, [SEALED_LABEL]: sealing.current }, spec };
}

function readText({ data }: JsonObject): string {
  return Buffer.from(typeof data === 'string' ? data : '', 'base64').toString('utf8');
}
