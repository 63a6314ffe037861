import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { KUMA_DIALECT } from './dialect';
import { CAUSEWAY_DIALECT } from '../../testing/dialects';
import { isLocalSecret, withPublicKeyOnly } from './secrets';
import { ResourceEncoder } from './resource-encoder';
import { encodeResponse } from './response';
import { decodeResponse } from '../../testing/decode-response';
import type { WireResource } from './wire-resource';

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const privatePem = privateKey.export({ type: 'pkcs1', format: 'pem' }).toString();
const signingKey = secret('zone-token-signing-key-1', privatePem);

it.each([
  ['envoy-admin-ca', true],
  ['admin-user-token', true],
  ['inter-cp-ca', true],
  ['user-token-revocations', true],
  ['user-token-signing-key-7', true],
  ['kds-tls-authority', true],
  ['zone-token-signing-key-1', false],
  ['zone-token-revocations', false],
  ['custom', false],
])('%s is excluded: %s', (name, excluded) => {
  expect(isLocalSecret({ kind: 'GlobalSecret', name })).toBe(excluded);
  expect(isLocalSecret({ kind: 'Secret', name })).toBe(false);
  for (const dialect of [KUMA_DIALECT, CAUSEWAY_DIALECT]) {
    expect(encoder().encodeWire(secret(name, privatePem), dialect).ok).toBe(!excluded);
  }
});

it.each([
  ['Kuma', KUMA_DIALECT],
  ['Causeway', CAUSEWAY_DIALECT],
])('a signing key reaches a %s zone as its public half only', (_, dialect) => {
  const encoding = encoder().encodeWire(signingKey, dialect);
  if (!encoding.ok) throw new Error(encoding.reason);
  const head = { kind: 'GlobalSecret', nonce: '1', controlPlane: 'global', removed: [] };
  const [received] = decodeResponse(encodeResponse({ ...head, resources: [encoding.resource] }), dialect).resources;
  if (received?.ok !== true) throw new Error('not read');
  const { name, labels, spec } = received.resource;
  const pem = Buffer.from(typeof spec['data'] === 'string' ? spec['data'] : '', 'base64').toString();
  expect(name).toBe('zone-token-signing-public-key-1');
  expect(labels['kuma.io/display-name']).toBe('zone-token-signing-key-1');
  expect(pem).toMatch(/^-----BEGIN RSA PUBLIC KEY-----/);
  expect(createPublicKey(pem).equals(publicKey)).toBe(true);
});

it('a signing key that cannot be read is not sent', () => {
  expect(encoder().encodeWire(secret('zone-token-signing-key-1', 'odd'), KUMA_DIALECT).ok).toBe(false);
});

it('other secrets leave as they are, private keys of Dataplane tokens too', () => {
  const dataplaneKey = {
    ...secret('dataplane-token-signing-key-default-1', privatePem),
    kind: 'Secret',
    mesh: 'default',
  };
  expect(withPublicKeyOnly(dataplaneKey)).toBe(dataplaneKey);
});

function encoder(): ResourceEncoder {
  return new ResourceEncoder({ role: 'global' });
}

function secret(name: string, text: string): WireResource {
  const spec = { data: Buffer.from(text).toString('base64') };
  return { kind: 'GlobalSecret', name, mesh: '', labels: { 'kuma.io/origin': 'global' }, spec };
}
