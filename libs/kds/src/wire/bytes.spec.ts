import { createHash } from 'node:crypto';
import { DeltaDiscoveryResponse } from '@causeway/proto-gen';
import type { JsonObject } from '@causeway/resources';
import { KUMA_DIALECT } from './dialect';
import { decodeRequest, encodeRequest, type WireRequest } from './request';
import { ResourceEncoder, type EncodedWireResource } from './resource-encoder';
import { encodeResponse } from './response';
import { decodeResponse } from '../../testing/decode-response';
import type { WireResource } from './wire-resource';

/** Byte examples of docs/reference/kds-wire.md Appendix B. */
const encoder = new ResourceEncoder({ role: 'global' }, { meshServicesMode: 'Disabled' });

const mesh: WireResource = {
  kind: 'Mesh',
  name: 'default',
  mesh: '',
  labels: { 'kuma.io/origin': 'global' },
  spec: {},
};
const redis: WireResource = {
  kind: 'MeshService',
  name: 'redis-c9d954w84b8wf77z',
  mesh: 'default',
  labels: {
    'kuma.io/zone': 'zone-1',
    'kuma.io/origin': 'global',
    'kuma.io/mesh': 'default',
    'kuma.io/env': 'universal',
    'kuma.io/display-name': 'redis',
  },
  spec: {
    state: 'Available',
    selector: { dataplaneLabels: { matchLabels: { app: 'redis' } } },
    ports: [{ port: 6379, targetPort: 6379, appProtocol: 'tcp' }],
  },
  status: {},
};

const KUMA_MESH =
  '0a230a0764656661756c7432180a0e6b756d612e696f2f6f726967696e1206676c6f62616c122d0a2b747970652e676f6f676c65617069732e636f6d2f6b756d612e6d6573682e7631616c706861312e4d657368';
const MESH_RESPONSE =
  '12da010a4065653365643139393363613337323165363630396330666237386262373131613030663936633830386166363637353938363239336434323064633064366431128b010a33747970652e676f6f676c65617069732e636f6d2f6b756d612e6d6573682e7631616c706861312e4b756d615265736f7572636512540a230a0764656661756c7432180a0e6b756d612e696f2f6f726967696e1206676c6f62616c122d0a2b747970652e676f6f676c65617069732e636f6d2f6b756d612e6d6573682e7631616c706861312e4d6573681a0864656661756c742e22044d6573682a01313a080a06676c6f62616c';

describe('a resource', () => {
  it('B.1: Mesh is 84 bytes of the known hash', () => {
    const encoded = encode(mesh);
    const kuma = kumaBytes(encoded);
    expect(kuma.toString('hex')).toBe(KUMA_MESH);
    expect(kuma).toHaveLength(84);
    expect(encoded.version).toBe('ee3ed1993ca3721e6609c0fb78bb711a00f96c808af6675986293d420dc0d6d1');
  });

  it('B.2: the response around it is 240 bytes', () => {
    const response = encodeResponse({
      kind: 'Mesh',
      nonce: '1',
      controlPlane: 'global',
      resources: [encode(mesh)],
      removed: [],
    });
    expect(response.toString('hex')).toBe(MESH_RESPONSE);
    expect(response).toHaveLength(240);
  });

  it('B.3: MeshService is 356 bytes of JSON without a type URL', () => {
    const encoded = encode(redis);
    expect(kumaBytes(encoded)).toHaveLength(356);
    expect(encoded.version).toBe('8472dbbf9b2edcd9ae14f4d82f9e07b1fcb8a7d1190221fcdf3a1f480279ba41');
    expect(outerOf(encoded).name).toBe('redis-c9d954w84b8wf77z.default');
  });

  it.each([
    ['B.1 Mesh', 'Mesh', { skipCreatingInitialPolicies: ['*'] }, '42012a'],
    [
      'B.4 Config',
      'Config',
      { config: '9f5eb36d-f24a-430c-a653-5fcd5145bad2' },
      '0a2439663565623336642d663234612d343330632d613635332d356663643531343562616432',
    ],
    ['B.4 Secret', 'Secret', { data: Buffer.from('abc').toString('base64') }, '0a050a03616263'],
    ['B.4 GlobalSecret', 'GlobalSecret', { data: Buffer.from('abc').toString('base64') }, '0a050a03616263'],
  ])('%s value', (_, kind, spec: JsonObject, hex) => {
    const encoded = encode({ ...mesh, kind, spec });
    expect(
      kumaBytes(encoded)
        .toString('hex')
        .endsWith(`12${(hex.length / 2).toString(16).padStart(2, '0')}${hex}`),
    ).toBe(true);
  });

  it('versions are the hash of the bytes', () => {
    const encoded = encode(redis);
    expect(encoded.version).toBe(createHash('sha256').update(kumaBytes(encoded)).digest('hex'));
  });
});

describe('a removal', () => {
  const mesh2 = {
    kind: 'Mesh',
    nonce: '2',
    controlPlane: 'global',
    removed: [{ name: 'default', mesh: '' }],
    resources: [],
  };
  const unknown4 = { kind: 'MeshGateway', nonce: '4', controlPlane: 'global', removed: [], resources: [] };

  it.each([
    ['B.6 Mesh', mesh2, '22044d6573682a0132320864656661756c742e3a080a06676c6f62616c'],
    ['B.6 unknown kind', unknown4, '220b4d657368476174657761792a01343a080a06676c6f62616c'],
  ])('%s', (_, response, hex) => {
    expect(encodeResponse(response).toString('hex')).toBe(hex);
    expect(decodeResponse(encodeResponse(response), KUMA_DIALECT)).toEqual(response);
  });
});

describe('a request', () => {
  const head = { kind: 'Mesh', zone: 'zone-1', nonce: '1', results: [] };
  const requests: readonly (readonly [string, WireRequest, string])[] = [
    ['B.5 ACK', { type: 'ack', ...head }, '0a080a067a6f6e652d3112044d657368320131'],
    [
      'B.5 NACK',
      { type: 'nack', ...head, message: 'user error' },
      '0a080a067a6f6e652d3112044d6573681a012a3201313a0c120a75736572206572726f72',
    ],
  ];

  it.each(requests)('%s', (_, request, hex) => {
    expect(encodeRequest(request).toString('hex')).toBe(hex);
    expect(decodeRequest(Buffer.from(hex, 'hex'))).toEqual(request);
  });

  it('B.7: the first of a kind ends with kind and "*"', () => {
    const metadata = { version: '1.2.3', config: '{}', controlPlaneId: 'cp-1', features: ['hash-suffix'] };
    const request: WireRequest = { type: 'subscribe', kind: 'Mesh', zone: 'zone-1', metadata, held: {} };
    const bytes = encodeRequest(request);
    expect(bytes.toString('hex').endsWith('12044d6573681a012a')).toBe(true);
    expect(decodeRequest(bytes)).toEqual(request);
  });
});

function encode(resource: WireResource): EncodedWireResource {
  const encoding = encoder.encodeWire(resource, KUMA_DIALECT);
  if (!encoding.ok) throw new Error(encoding.reason);
  return encoding.resource;
}

function outerOf(encoded: EncodedWireResource) {
  const [outer] = DeltaDiscoveryResponse.decode(encoded.entry).resources;
  if (outer === undefined) throw new Error('no resource');
  return outer;
}

function kumaBytes(encoded: EncodedWireResource): Buffer {
  return outerOf(encoded).resource?.value ?? Buffer.alloc(0);
}
