import { coreKinds } from '@causeway/kinds';
import { wireName } from '@causeway/naming';
import { NotFound, type ControlPlane, type Identity, type Resource } from '@causeway/resources';
import { ResourceIndex } from '@causeway/store';
import { resolveName, type NameQuery } from './resolve-name';

const global: ControlPlane = { role: 'global' };
const east: ControlPlane = { role: 'zone', zone: 'east', federated: true };

function resource(kind: string, place: string, more: Partial<Identity> = {}): Resource {
  const [zone = '', namespace = '', name = ''] = place.split('/');
  const id = { kind, mesh: coreKinds.kind(kind)?.scope === 'mesh' ? 'default' : '', zone, namespace, name, ...more };
  const labels = {
    'kuma.io/display-name': name,
    ...(zone === '' ? {} : { 'kuma.io/zone': zone }),
    ...(namespace === '' || namespace === 'default' ? {} : { 'k8s.kuma.io/namespace': namespace }),
  };
  const origin = { incarnation: 'i', revision: 1, committedAt: 0 };
  const facts = { uid: place, spec: {}, generation: 1, creationOrder: 0, createdAt: 0, modifiedAt: 0, revision: 1 };
  return { id, labels, ...facts, origin, freed: [] };
}

const held = [
  resource('MeshService', 'east/default/redis'),
  resource('MeshService', 'west/default/redis'),
  resource('MeshService', 'east/shop/redis'),
  resource('MeshService', 'west/default/web'),
  resource('MeshService', 'north/shop/web'),
  resource('MeshService', 'west/default/web', { mesh: 'demo' }),
  resource('HostnameGenerator', '//gen'),
  resource('HostnameGenerator', 'east//gen'),
  resource('HostnameGenerator', '//only-global'),
  resource('Mesh', '//default'),
];
const index = new ResourceIndex();
index.load({ point: { incarnation: 'i', revision: 1 }, resources: held, tombstones: [] });

function wire(place: string): string {
  const found = held.find((r) => r.uid === place);
  if (!found) throw new Error(place);
  return wireName({ kind: found.id.kind, mesh: found.id.mesh, name: found.id.name, labels: found.labels });
}

type Query = readonly [cp: ControlPlane, kind: string, query: Omit<NameQuery, 'kind'>];

function resolve([cp, kindName, query]: Query): string {
  const kind = coreKinds.kind(kindName);
  if (!kind) throw new Error(kindName);
  return resolveName(index, cp, { kind, ...(kind.scope === 'mesh' ? { mesh: 'default' } : {}), ...query }).uid;
}

describe('resolveName', () => {
  it.each<[string, Query, string]>([
    ['a plain name: made here', [east, 'MeshService', { name: 'redis' }], 'east/default/redis'],
    ['a namespace', [east, 'MeshService', { name: 'redis', namespace: 'shop' }], 'east/shop/redis'],
    ['a zone', [east, 'MeshService', { name: 'redis', zone: 'west' }], 'west/default/redis'],
    ['a zone, on the global', [global, 'MeshService', { name: 'redis', zone: 'east' }], 'east/default/redis'],
    ['both ways, here', [east, 'HostnameGenerator', { name: 'gen' }], 'east//gen'],
    ['both ways, the global asked for', [east, 'HostnameGenerator', { name: 'gen', zone: '' }], '//gen'],
    ['both ways, on the global', [global, 'HostnameGenerator', { name: 'gen' }], '//gen'],
    ['written on the global only, in a zone', [east, 'Mesh', { name: 'default' }], '//default'],
    ['a wire name of another zone', [east, 'MeshService', { name: wire('west/default/web') }], 'west/default/web'],
    ['a wire name with a namespace', [global, 'MeshService', { name: wire('east/shop/redis') }], 'east/shop/redis'],
  ])('%s', (_, query, want) => {
    expect(resolve(query)).toBe(want);
  });

  it.each<[string, Query, string]>([
    [
      'nothing at all',
      [east, 'MeshService', { name: 'none' }],
      'MeshService east/default/none of mesh default does not exist',
    ],
    [
      'other zones only',
      [east, 'MeshService', { name: 'web' }],
      'MeshService east/default/web of mesh default does not exist; this name exists with zone=north&namespace=shop, zone=west',
    ],
    [
      'zones only, on the global',
      [global, 'MeshService', { name: 'redis' }],
      'MeshService default/redis of mesh default does not exist; this name exists with zone=east, zone=east&namespace=shop, zone=west',
    ],
    [
      'the global only',
      [east, 'HostnameGenerator', { name: 'only-global' }],
      'HostnameGenerator east/only-global does not exist; this name exists with zone= (the global)',
    ],
    [
      'a zone of a kind without zones',
      [east, 'Mesh', { name: 'default', zone: 'east' }],
      'Mesh east/default does not exist; this name exists with zone= (the global)',
    ],
    [
      'a wire name in another mesh',
      [east, 'MeshService', { name: wire('west/default/web'), mesh: 'demo' }],
      `MeshService east/default/${wire('west/default/web')} of mesh demo does not exist`,
    ],
    [
      'a wire name of another zone than asked',
      [east, 'MeshService', { name: wire('west/default/web'), zone: 'north' }],
      `MeshService north/default/${wire('west/default/web')} of mesh default does not exist`,
    ],
  ])('does not find %s', (_, query, message) => {
    expect(() => resolve(query)).toThrow(new NotFound(message));
  });
});
