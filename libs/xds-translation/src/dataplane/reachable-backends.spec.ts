import type { JsonObject, Resource } from '@causeway/resources';
import { sketch, TrafficZone } from '../../../../test/support/traffic-zone';
import { WatchedView } from '../../../../test/support/watched-view';
import { RESOURCE_TYPES } from '@causeway/xds-server';
import type { EnvoyView } from '../views/envoy-view';
import { zoneResources } from '../../../../test/support/zone-resources';

const BIND = { type: 'bind' } as const;

function service(name: string, vip: string, ports: readonly number[], team = 'a'): Resource {
  const spec = { ports: ports.map((port) => ({ port })) };
  return sketch('MeshService', name, spec, { status: { vip: { ip: vip } }, labels: { team } });
}

function web(refs?: readonly JsonObject[]): Resource {
  const transparentProxying = refs ? { reachableBackends: { refs: [...refs] } } : {};
  return sketch('Dataplane', 'web-1', { networking: { address: '127.0.0.1', transparentProxying } });
}

/** The listeners at addresses that were announced to the watched proxies. */
function announced({ announced: found }: WatchedView): readonly string[] {
  const at = `${RESOURCE_TYPES.listener} `;
  const names = [...found].flatMap((each) => (each.startsWith(at) ? [each.slice(at.length)] : []));
  return names.filter((name) => /^outbound:\d/.test(name)).sort();
}

describe('what a Dataplane declares to use', () => {
  const [redis, mail] = [service('redis', '127.1.0.1', [6379, 6380]), service('mail', '127.1.0.2', [25], 'b')];
  const setUp = (dataplane: Resource, capture: EnvoyView['capture'] = BIND) => {
    const zone = new TrafficZone([redis, mail, dataplane]);
    const source = zoneResources(zone, 'west');
    source.follow();
    const view: EnvoyView = {
      mesh: 'default',
      listed: 'declared',
      dataplane: dataplane.id,
      ...(capture && { capture }),
    };
    const listeners = () => [...source.names({ id: 'web', view }, RESOURCE_TYPES.listener)].sort();
    return { zone, source, view, listeners, watched: new WatchedView(source, view) };
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
    const { zone, source, view, watched, listeners } = setUp(web());
    zone.put(ofAppMesh('vs-a', '127.1.0.8'));
    zone.put(ofAppMesh('vs-b', '127.1.0.9'));
    const [a, b] = ['outbound:127.1.0.8:80', 'outbound:127.1.0.9:80'];
    const plain = [six, seven, post];
    expect(listeners()).toEqual([...plain, a, b]);
    // All resources that its proxies hold are built again, and no other view gets an announcement.
    const other = new WatchedView(source, { ...view, dataplane: { ...web().id, name: 'web-2' } });
    const change = (dataplane: Resource, ...wanted: readonly (string | undefined)[]): void => {
      watched.look();
      zone.put(dataplane);
      expect(listeners()).toEqual(wanted);
      expect(announced(watched)).toEqual(expect.arrayContaining([...wanted]));
      expect([...other.announced]).toEqual([]);
    };
    change(bound(['vs-a']), ...plain, a);
    change(bound(['vs-b']), ...plain, b);
    change(bound([]), ...plain);
    const late = 'outbound:127.1.0.3:81';
    zone.put(service('late', '127.1.0.3', [81]));
    expect(listeners()).toEqual([six, seven, post, late]);
    other.look();
    const own = { kind: 'MeshService', name: 'mail' };
    change(bound([], [own]), post);
    // Its own list is bounded by the backends of its node.
    change(bound([], [own, { kind: 'MeshService', name: 'vs-a' }]), post);
    change(bound(['vs-a', 'vs-b'], [own, { kind: 'MeshService', name: 'vs-a' }]), post, a);
    zone.put(web());
    expect(listeners()).toEqual([...plain, 'outbound:127.1.0.3:81', a, b]);
  });

  it('is listened to as services come, go, and change labels, and as the Dataplane says otherwise', () => {
    const { zone, watched, listeners } = setUp(web([{ kind: 'MeshService', labels: { team: 'b' } }]));
    expect(listeners()).toEqual([post]);
    zone.put(service('redis', '127.1.0.1', [6379, 6380], 'b'));
    expect(listeners()).toEqual([six, seven, post]);
    expect(announced(watched)).toEqual([six, seven]);
    zone.delete(mail);
    expect(listeners()).toEqual([six, seven]);
    watched.look();
    zone.put(web([{ kind: 'MeshService', name: 'redis', port: 6379 }]));
    expect(listeners()).toEqual([six]);
    expect(announced(watched)).toEqual([seven]);
  });

  it('costs nobody else anything where a Dataplane comes or goes', () => {
    const { zone, watched } = setUp(web([{ kind: 'MeshService', name: 'mail' }]));
    const other = (refs?: readonly JsonObject[]): Resource => ({ ...web(refs), id: { ...web().id, name: 'web-2' } });
    for (const refs of [undefined, [{ kind: 'MeshService', name: 'mail' }]]) {
      zone.put(other(refs));
      zone.delete(other(refs));
    }
    expect([...watched.announced]).toEqual([]);
  });

  it('is on demand where it does not say and connections are redirected', () => {
    const at = (port: number) => ({ address: '127.0.0.1', port });
    const { source, view } = setUp(web(), { type: 'redirect', at: at(15001), reentry: at(15011) });
    expect([...source.names({ id: 'web', view }, RESOURCE_TYPES.cluster)]).toEqual([]);
  });
});
