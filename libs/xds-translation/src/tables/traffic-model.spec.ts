import { identityKey, type JsonObject, type Resource } from '@causeway/resources';
import { EAST_AUTHORITY, NEXT_EAST_AUTHORITY } from '../../../../test/support/certificates';
import { sketch, TrafficZone, type TrafficSketch } from '../../../../test/support/traffic-zone';
import type { ModelChange } from '../model/model-change';
import { TrafficModel } from './traffic-model';

const SERVICES = 10_000;
const EAST = { zone: 'east' };

function service(name: string, given: TrafficSketch = {}, spec: JsonObject = {}): Resource {
  const selector = { dataplaneTags: { app: name } };
  return sketch('MeshService', name, { selector, ports: [{ port: 80 }], ...spec }, given);
}

function dataplane(name: string, app: string, inbound: JsonObject = {}): Resource {
  return sketch('Dataplane', name, {
    networking: { address: '10.0.0.1', inbound: [{ port: 80, tags: { app }, ...inbound }] },
  });
}

function group(name: string, zones: readonly string[]): Resource {
  const meshServices = zones.map((zone) => ({ name: 'redis', namespace: 'default', zone, mesh: 'default' }));
  return sketch('MeshMultiZoneService', name, { ports: [{ port: 80 }] }, { status: { meshServices } });
}

const address = (ip: string, zone = 'east'): Resource =>
  sketch('MeshZoneAddress', 'in', { address: ip, port: 10001 }, { zone });
const ingress = sketch('ZoneIngress', 'in', { networking: { address: '192.0.2.7', port: 10001 } }, EAST);
const lost = (policy: string): Resource => sketch('Zone', 'east', {}, { status: { lost: { policy, since: '' } } });

/** A model that follows an index, and the announcements of the last change. */
function follow(...resources: readonly Resource[]): { zone: TrafficZone; model: TrafficModel; changes: ModelChange[] } {
  const zone = new TrafficZone(resources);
  const model = new TrafficModel(zone.index, 'west', zone.access);
  for (const _ of model.load());
  const changes: ModelChange[] = [];
  zone.index.subscribe((event) => changes.push(model.apply(event)));
  return { zone, model, changes };
}

describe('a service whose inbounds do not only take TLS', () => {
  const settings = (spec: JsonObject): Resource => sketch('MeshParameters', 'p', spec);
  const mesh = sketch('Mesh', 'default', {
    parametersRef: { group: 'causeway.io', kind: 'MeshParameters', name: 'p' },
  });
  const own = dataplane('a', 'redis');
  const [here, there] = ['kri_msvc_default_west__redis_80', 'kri_msvc_default_east__redis_80'];

  it('is spoken to in plaintext where it takes nothing else, and where it takes both until its proxy takes TLS', () => {
    const { zone, model } = follow(mesh, settings({}), service('redis'), own);
    const isPlaintext = (): unknown => model.destination(here)?.local[0]?.plaintext;
    expect(isPlaintext()).toBe(false);
    zone.put(settings({ mtls: 'Permissive' }));
    expect(isPlaintext()).toBe(true);
    zone.takeTls(own);
    expect(model.tlsChanged([identityKey(own.id)]).destinations).toHaveLength(1);
    expect(isPlaintext()).toBe(false);
    expect(model.tlsChanged([identityKey(own.id)]).destinations).toEqual([]);
    zone.put(settings({ mtls: 'Off' }));
    expect(isPlaintext()).toBe(true);
    // Clients do not fall back to plaintext because settings are gone.
    zone.delete(settings({}));
    expect(isPlaintext()).toBe(false);
  });

  it.each([
    [{}, false],
    [{ mtls: 'Permissive' }, true],
    [{ mtls: 'Permissive', defaultAccess: 'Deny' }, false],
    [{ mtls: 'Off' }, true],
    [{ mtls: 'Off', defaultAccess: 'Deny' }, false],
  ])('takes plaintext with %j: %s, whatever its proxy takes besides', (spec, takesPlaintext) => {
    const { zone, model } = follow(mesh, settings({}), service('redis'), own);
    zone.takeTls(own);
    zone.put(settings(spec));
    expect(model.destination(here)?.local[0]).toMatchObject({ takesPlaintext });
    expect(model.listInstances(identityKey(service('redis').id))[0]?.instances).toMatchObject([
      { plaintext: takesPlaintext },
    ]);
  });

  it('has no way between zones while TLS is off, and gets it back', () => {
    const remote = service('redis', EAST);
    const { zone, model } = follow(
      mesh,
      settings({ mtls: 'Off' }),
      address('192.0.2.1'),
      service('redis'),
      own,
      remote,
    );
    const ways = (): unknown => [model.destination(here)?.servedHere, model.destination(there)?.remote.length];
    expect(ways()).toEqual([false, 0]);
    zone.put(settings({ mtls: 'Permissive' }));
    expect(ways()).toEqual([true, 1]);
  });
});

describe('a service of this zone', () => {
  it('has the inbounds of its Dataplanes, NotReady ones too, Ignored ones not', () => {
    const others = [
      dataplane('b', 'redis', { port: 81, state: 'NotReady' }),
      dataplane('c', 'redis', { state: 'Ignored' }),
    ];
    const redis = service('redis', {}, { ports: [{ port: 80 }, { port: 90, targetPort: 81 }] });
    const { model } = follow(redis, dataplane('a', 'redis'), dataplane('d', 'other'), ...others);
    expect(model.destination('kri_msvc_default_west__redis_80')?.local).toEqual([
      { address: '10.0.0.1', port: 80, ready: true, plaintext: false, takesPlaintext: false },
    ]);
    expect(model.destination('kri_msvc_default_west__redis_90')?.local).toEqual([
      { address: '10.0.0.1', port: 81, ready: false, plaintext: false, takesPlaintext: false },
    ]);
  });

  it('has a name that no label can change', () => {
    const labels = { 'kuma.io/zone': 'east', 'kuma.io/display-name': 'redis', 'kuma.io/mesh': 'other' };
    const { model } = follow(service('evil', { labels }));
    expect([...model.destinations()].map(({ name }) => name)).toEqual(['kri_msvc_default_west__evil_80']);
  });
});

describe('a service of another zone', () => {
  const NAME = 'kri_msvc_default_east__redis_80';
  const redis = service('redis', EAST);
  it.each<[string, readonly Resource[], unknown]>([
    [
      'by KRI names where it has a MeshZoneAddress',
      [address('192.0.2.1'), ingress],
      [{ sni: 'kri', depreferred: false }],
    ],
    ['by hash names where it has only a ZoneIngress', [ingress], [{ sni: 'hash', depreferred: false }]],
    ['not where it has neither', [], []],
    ['by a host name', [address('in.example.com')], [{ sni: 'kri', depreferred: false }]],
    ['not while it is disabled', [ingress, sketch('Zone', 'east', { enabled: false })], []],
    ['not while it is lost and withdrawn', [ingress, lost('withdraw')], []],
    ['last while it is lost and depreferred', [ingress, lost('depreferred')], [{ sni: 'hash', depreferred: true }]],
    ['as ever while it is lost and kept', [ingress, lost('keep')], [{ sni: 'hash', depreferred: false }]],
  ])('is reached through its zone %s', (_, facts, want) => {
    const { zone, model } = follow(redis);
    expect(model.destination(NAME)?.remote).toEqual([]);
    zone.put(...facts, sketch('MeshTrust', 'unrelated', {}));
    const found = model.destination(NAME)?.remote.map(({ sni, depreferred }) => ({ sni, depreferred }));
    expect(found).toEqual(want);
  });
});

it('an ingress endpoint that moves changes no destination of its zone, and names those of several zones', () => {
  const { zone, changes, model } = follow(service('redis', EAST), group('redis', ['east']), address('192.0.2.1'));
  zone.put(address('192.0.2.2'));
  expect(changes).toMatchObject([{ destinations: [], zones: [{ mesh: 'default', zone: 'east' }] }]);
  expect(model.ingressEndpoint('default', 'east')?.addresses).toEqual([{ address: '192.0.2.2', port: 10001 }]);
});

it('trusts the authority of Mesh.mtls for the domain that is the name of the mesh, while it is enabled', () => {
  const mtls = (enabledBackend: string): JsonObject => ({
    mtls: { enabledBackend, backends: [{ name: 'ca-1', type: 'builtin' }] },
  });
  const at = (kind: string, name: string, spec: JsonObject, mesh: string): Resource => {
    const made = sketch(kind, name, spec);
    return { ...made, id: { ...made.id, mesh, zone: '' } };
  };
  const mesh = (enabled: string): Resource => at('Mesh', 'default', mtls(enabled), '');
  const data = Buffer.from(NEXT_EAST_AUTHORITY).toString('base64');
  const own = sketch('MeshTrust', 't', {
    trustDomain: 'a',
    caBundles: [{ type: 'Pem', pem: { value: EAST_AUTHORITY } }],
  });
  const { zone, changes, model } = follow(own, mesh(''));
  expect(model.trust('default')).toEqual([{ name: 'a', pem: EAST_AUTHORITY }]);
  zone.put(mesh('ca-1'));
  zone.put(at('Secret', 'default.ca-builtin-cert-ca-1', { data }, 'default'));
  expect(model.trust('default')).toEqual([
    { name: 'a', pem: EAST_AUTHORITY },
    { name: 'default', pem: NEXT_EAST_AUTHORITY },
  ]);
  zone.put(at('Secret', 'other', { data }, 'default'));
  zone.put(mesh(''));
  expect(model.trust('default')).toEqual([{ name: 'a', pem: EAST_AUTHORITY }]);
  expect(changes.map(({ trust }) => trust)).toEqual([['default'], ['default'], [], ['default']]);
});

describe(`with ${SERVICES} services`, () => {
  const services = Array.from({ length: SERVICES }, (_, i) => service(`s${i}`, i % 2 ? EAST : {}));
  const known = [dataplane('d', 's0'), address('192.0.2.1'), service('redis', EAST), group('all', ['east'])];

  it.each<[string, readonly Resource[], number]>([
    ['a Dataplane computes its services', [dataplane('d', 's0', { state: 'NotReady' })], 1],
    ['a Dataplane that moves computes both services', [dataplane('d', 's2')], 2],
    ['a service computes itself', [service('s1', { zone: 'east', status: { vip: { ip: '241.0.0.1' } } })], 1],
    ['a member computes itself and its group', [service('redis', EAST, { state: 'Unavailable' })], 2],
    ['an ingress endpoint that moves computes nothing', [address('192.0.2.2')], 0],
    ['trust computes nothing', [sketch('MeshTrust', 't', { trustDomain: 'a' })], 0],
    ['a zone that cannot be entered any more computes its services', [lost('withdraw')], SERVICES / 2 + 2],
  ])('a change costs what it touches: %s', (_, change, want) => {
    const { zone, model } = follow(...services, ...known);
    const before = model.computed;
    zone.put(...change);
    expect(model.computed - before).toBe(want);
  });
});
