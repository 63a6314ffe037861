import type { JsonObject, Resource } from '@causeway/resources';
import { sketch, TrafficZone } from '../../../../../test/support/traffic-zone';
import { RESOURCE_TYPES } from '../../resources/encoded-resource';
import type { EnvoyView } from '../envoy-view';
import { EnvoyResources } from '../envoy-resources';

const BIND = { type: 'bind' } as const;

function service(name: string, vip: string, ports: readonly number[], team = 'a'): Resource {
  const spec = { ports: ports.map((port) => ({ port })) };
  return sketch('MeshService', name, spec, { status: { vip: { ip: vip } }, labels: { team } });
}

function web(refs?: readonly JsonObject[]): Resource {
  const transparentProxying = refs ? { reachableBackends: { refs: [...refs] } } : {};
  return sketch('Dataplane', 'web-1', { networking: { address: '127.0.0.1', transparentProxying } });
}

describe('what a Dataplane declares to use', () => {
  const [redis, mail] = [service('redis', '127.1.0.1', [6379, 6380]), service('mail', '127.1.0.2', [25], 'b')];
  const setUp = (dataplane: Resource, capture: EnvoyView['capture'] = BIND) => {
    const zone = new TrafficZone([redis, mail, dataplane]);
    const source = new EnvoyResources(zone.index, 'west', zone.access);
    source.follow();
    const view: EnvoyView = {
      mesh: 'default',
      listed: 'declared',
      dataplane: dataplane.id,
      ...(capture && { capture }),
    };
    const listeners = () => [...source.names({ id: 'web', view }, RESOURCE_TYPES.listener)].sort();
    return { zone, source, view, listeners };
  };
  const [six, seven, post] = ['outbound:127.1.0.1:6379', 'outbound:127.1.0.1:6380', 'outbound:127.1.0.2:25'];

  it.each<[string, readonly JsonObject[] | undefined, readonly (string | undefined)[]]>([
    ['nothing is said: all of the mesh', undefined, [six, seven, post]],
    ['none', [], []],
    ['by name', [{ kind: 'MeshService', name: 'redis' }], [six, seven]],
    ['by name and port', [{ kind: 'MeshService', name: 'redis', port: 6380 }], [seven]],
    ['by name in another namespace', [{ kind: 'MeshService', name: 'redis', namespace: 'shop' }], []],
    ['by labels', [{ kind: 'MeshService', labels: { team: 'b' } }], [post]],
    ['of another kind', [{ kind: 'MeshExternalService', name: 'redis' }], []],
    [
      'twice',
      [
        { kind: 'MeshService', name: 'mail' },
        { kind: 'MeshService', labels: { team: 'b' } },
      ],
      [post],
    ],
  ])('is bound: %s', (_, refs, wanted) => {
    expect(setUp(web(refs)).listeners()).toEqual(wanted);
  });

  it('is, for a Dataplane of a VirtualNode, its backends and all outside App Mesh; its own list narrows that (T003-35)', () => {
    const ofAppMesh = (name: string, vip: string): Resource => {
      const made = service(name, vip, [80]);
      return { ...made, labels: { ...made.labels, 'causeway.io/managed-by': 'VirtualService' } };
    };
    const bound = (backends: readonly string[], refs?: readonly JsonObject[]): Resource => ({
      ...web(refs),
      status: {
        virtualNode: { namespace: 'a', name: 'n', backends: backends.map((name) => ({ namespace: 'default', name })) },
      },
    });
    const { zone, source, listeners } = setUp(web());
    zone.put(ofAppMesh('vs-a', '127.1.0.8'));
    zone.put(ofAppMesh('vs-b', '127.1.0.9'));
    const [a, b] = ['outbound:127.1.0.8:80', 'outbound:127.1.0.9:80'];
    const plain = [six, seven, post];
    expect(listeners()).toEqual([...plain, a, b]);
    const told = new Set<string>();
    source.subscribe({
      changed: ({ names }) => names.forEach((name) => told.add(name)),
      relisted: () => undefined,
      reloaded: () => undefined,
    });
    const change = (dataplane: Resource): readonly string[] => {
      told.clear();
      zone.put(dataplane);
      return [...told].filter((name) => /^outbound:\d/.test(name)).sort();
    };
    expect(change(bound(['vs-a']))).toEqual([a, b]);
    expect(listeners()).toEqual([...plain, a]);
    expect(change(bound(['vs-b']))).toEqual([a, b]);
    expect(listeners()).toEqual([...plain, b]);
    expect(change(bound([]))).toEqual([b]);
    expect(listeners()).toEqual(plain);
    zone.put(service('late', '127.1.0.3', [81]));
    expect(listeners()).toEqual([six, seven, post, 'outbound:127.1.0.3:81']);
    const own = { kind: 'MeshService', name: 'mail' };
    expect(change(bound([], [own]))).toEqual([six, seven, post, 'outbound:127.1.0.3:81'].sort());
    expect(listeners()).toEqual([post]);
    // Its own list is bounded by the backends of its node.
    expect(change(bound([], [own, { kind: 'MeshService', name: 'vs-a' }]))).toEqual([a]);
    expect(listeners()).toEqual([post]);
    expect(change(bound(['vs-a', 'vs-b'], [own, { kind: 'MeshService', name: 'vs-a' }]))).toEqual([a, b]);
    expect(listeners()).toEqual([post, a]);
    zone.put(web());
    expect(listeners()).toEqual([...plain, 'outbound:127.1.0.3:81', a, b]);
  });

  it('is listened to as services come, go, and change labels, and as the Dataplane says otherwise', () => {
    const { zone, source, listeners } = setUp(web([{ kind: 'MeshService', labels: { team: 'b' } }]));
    expect(listeners()).toEqual([post]);
    const told = new Set<string>();
    source.subscribe({
      changed: ({ names }) => names.forEach((name) => told.add(name)),
      relisted: () => undefined,
      reloaded: () => undefined,
    });
    zone.put(service('redis', '127.1.0.1', [6379, 6380], 'b'));
    expect(listeners()).toEqual([six, seven, post]);
    expect([...told]).toEqual(expect.arrayContaining([six, seven]));
    zone.delete(mail);
    expect(listeners()).toEqual([six, seven]);
    told.clear();
    zone.put(web([{ kind: 'MeshService', name: 'redis', port: 6379 }]));
    expect(listeners()).toEqual([six]);
    expect([...told]).toContain(seven);
    expect([...told]).not.toContain(six);
  });

  it('costs what it declares where a Dataplane comes or goes', () => {
    const { zone, source } = setUp(web([]));
    const told = new Set<string>();
    source.subscribe({
      changed: ({ names }) => names.forEach((name) => told.add(name)),
      relisted: () => undefined,
      reloaded: () => undefined,
    });
    const other = (refs?: readonly JsonObject[]): Resource => ({ ...web(refs), id: { ...web().id, name: 'web-2' } });
    zone.put(other());
    zone.delete(other());
    expect([...told]).toEqual([]);
    zone.put(other([{ kind: 'MeshService', name: 'mail' }]));
    expect([...told]).toContain(post);
    expect([...told]).not.toContain(six);
    told.clear();
    zone.delete(other([{ kind: 'MeshService', name: 'mail' }]));
    expect([...told]).not.toContain(six);
  });

  it('is on demand where it does not say and connections are redirected', () => {
    const at = (port: number) => ({ address: '127.0.0.1', port });
    const { source, view } = setUp(web(), { type: 'redirect', at: at(15001), reentry: at(15011) });
    expect([...source.names({ id: 'web', view }, RESOURCE_TYPES.cluster)]).toEqual([]);
  });
});
