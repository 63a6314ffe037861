import fc from 'fast-check';
import { hashName, keepsNameOnWire, wireName } from './kds-name';

/** docs/reference/kds-wire.md §4.1 and docs/reference/kuma-rest.md §1.7: vectors of Kuma's own tests. */
const VECTORS: readonly (readonly [readonly [string, string, ...string[]], string])[] = [
  [['default', 'redis-zone-1', 'zone-1'], 'redis-zone-1-2v6wfvvcvbc9f55d'],
  [['default', 'redis-zone-2', 'zone-2'], 'redis-zone-2-ff29vc4685c6f594'],
  [['default', 'default-timeout-global'], 'default-timeout-global-54dbd4c66zwbcf9c'],
  [['default', 'default-timeout-zone-1', 'zone-1'], 'default-timeout-zone-1-c58w24w4vw27f454'],
  [['', 'foo'], 'foo-zxw6c95d42zfz9cc'],
  [['', 'foo', 'zone-1', 'custom-ns'], 'foo-696vzv497z4cv4f4'],
  [['producer-policy-flow', 'to-test-server', 'kuma-2', 'producer-policy-flow-ns'], 'to-test-server-4cx47v8b5wcd4764'],
  [['producer-policy-flow', 'to-test-server', 'zone-1', 'producer-policy-flow-ns'], 'to-test-server-xw65cwcxxw4f7fvw'],
  [['producer-policy-flow', 'to-test-server', 'producer-policy-flow-ns'], 'to-test-server-5wxzc95dxv8zb244'],
  [['default', 'without-namespace'], 'without-namespace-c5v4498z5w4x9bcx'],
  [['default', 'aatimeout-1', 'my-zone', 'kong-mesh-system'], 'aatimeout-1-82vzd567626w9bcf'],
  [['default', 'timeout-2', 'my-zone', 'kong-mesh-system'], 'timeout-2-dz449dwd8fw4486x'],
  [['default', 'timeout-3', 'my-zone', 'kong-mesh-system'], 'timeout-3-bbzw9cc54z4bv4v5'],
  [['default', 'timeout-4', 'my-zone', 'kong-mesh-system'], 'timeout-4-dv4792fw8fwvww42'],
  [['default', 'backend', 'zone-1'], 'backend-d8466458x7574b7b'],
];

describe('hashName', () => {
  it.each(VECTORS)('%j → %s', ([mesh, name, ...extra], want) => {
    expect(hashName(mesh, name, ...extra)).toBe(want);
  });

  it('cuts the name to 236 bytes but hashes all of it', () => {
    const long = 'a'.repeat(236);
    const [one, other] = [hashName('default', `${long}b`), hashName('default', `${long}c`)];
    expect(one).toHaveLength(253);
    expect(one.slice(0, 237)).toBe(`${long}-`);
    expect(one).not.toBe(other);
  });

  it('agrees with the hash computed in 64-bit integers', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 60 }), fc.string({ maxLength: 30 }), (mesh, name) => {
        expect(hashName(mesh, name).slice(-16)).toBe(referenceHash(mesh + name));
      }),
    );
  });
});

describe('wireName', () => {
  const redis = { kind: 'MeshService', mesh: 'default', name: 'redis-zone-1' };

  it.each([
    ['zone label', { ...redis, labels: { 'kuma.io/zone': 'zone-1' } }, 'redis-zone-1-2v6wfvvcvbc9f55d'],
    [
      'display name before name',
      {
        ...redis,
        name: 'redis-zone-1-2v6wfvvcvbc9f55d',
        labels: { 'kuma.io/zone': 'zone-1', 'kuma.io/display-name': 'redis-zone-1' },
      },
      'redis-zone-1-2v6wfvvcvbc9f55d',
    ],
    [
      'empty display name',
      { ...redis, labels: { 'kuma.io/zone': 'zone-1', 'kuma.io/display-name': '' } },
      'redis-zone-1-2v6wfvvcvbc9f55d',
    ],
    [
      'zone before namespace',
      {
        kind: 'MeshService',
        mesh: '',
        name: 'foo',
        labels: { 'k8s.kuma.io/namespace': 'custom-ns', 'kuma.io/zone': 'zone-1' },
      },
      'foo-696vzv497z4cv4f4',
    ],
    ['no labels', { kind: 'HostnameGenerator', mesh: '', name: 'foo', labels: {} }, 'foo-zxw6c95d42zfz9cc'],
    ['kept', { kind: 'Mesh', mesh: '', name: 'default', labels: { 'kuma.io/display-name': 'x' } }, 'default'],
  ])('%s', (_, resource, want) => {
    expect(wireName(resource)).toBe(want);
  });

  it('gives a copy the name of its original', () => {
    const label = fc.dictionary(fc.constantFrom('kuma.io/zone', 'k8s.kuma.io/namespace'), fc.string());
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), label, (name, labels) => {
        const first = wireName({ kind: 'MeshService', mesh: 'm', name, labels });
        const copy = {
          kind: 'MeshService',
          mesh: 'm',
          name: first,
          labels: { ...labels, 'kuma.io/display-name': name },
        };
        expect(wireName(copy)).toBe(first);
      }),
    );
  });

  it('keeps the names of four kinds', () => {
    expect(['Mesh', 'Config', 'Secret', 'GlobalSecret', 'MeshService', 'Zone'].map(keepsNameOnWire)).toEqual([
      true,
      true,
      true,
      true,
      false,
      false,
    ]);
  });
});

function referenceHash(text: string): string {
  let hash = 0xcbf29ce484222325n;
  for (const byte of new TextEncoder().encode(text)) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  return [...hash.toString(16).padStart(16, '0')]
    .map((c) => 'bcdfghjklmnpqrstvwxz2456789'.charAt(c.charCodeAt(0) % 27))
    .join('');
}
