import { Cluster, FilterChain, HttpConnectionManager, Listener } from '@causeway/proto-gen';
import type { JsonObject, Resource } from '@causeway/resources';
import { sketch, TrafficZone } from '../../../../test/support/traffic-zone';
import { RESOURCE_TYPES, unpack } from '@causeway/xds-server';
import type { EnvoyView } from '../views/envoy-view';
import { zoneResources } from '../../../../test/support/zone-resources';

const { cluster, filterChain, listener } = RESOURCE_TYPES;
const identities = [{ type: 'SpiffeID', value: 'spiffe://default.east.mesh.local/workload/a' }];
const at = (port: number) => ({ address: '127.0.0.1', port });
const REDIRECT = { type: 'redirect', at: at(15001), reentry: at(15011) } as const;

/** A service that answers in east, at 241.0.0.`n`; one whose name begins with `v` comes from App Mesh. */
function service(name: string, n: number, appProtocol = 'tcp'): Resource {
  return sketch(
    'MeshService',
    name,
    { identities, ports: [{ port: 80, appProtocol }] },
    {
      zone: 'east',
      labels: name.startsWith('v') ? { 'causeway.io/managed-by': 'VirtualService' } : {},
      status: { vip: { ip: `241.0.0.${n}` }, addresses: [{ hostname: `${name}.mesh`, status: 'Available' }] },
    },
  );
}

/** A Dataplane of a VirtualNode with these backends; of no VirtualNode if absent. */
function web(backends?: readonly string[], networking: JsonObject = {}): Resource {
  const found = backends?.map((name) => ({ namespace: 'default', name }));
  const status = found ? { virtualNode: { namespace: 'shop', name: 'web', backends: found } } : {};
  return sketch('Dataplane', 'web-1', { networking: { address: '192.0.2.1', ...networking } }, { status });
}

function setUp(view: Partial<EnvoyView>, dataplane: Resource) {
  const zone = new TrafficZone([
    sketch('MeshZoneAddress', 'in', { address: '192.0.2.1', port: 10001 }, { zone: 'east' }),
    service('vs-a', 1),
    service('vs-b', 2, 'http'),
    service('vn-b', 3),
    service('plain', 4, 'http'),
    dataplane,
  ]);
  const source = zoneResources(zone, 'west');
  source.follow();
  const whole: EnvoyView = { mesh: 'default', listed: 'declared', dataplane: dataplane.id, ...view };
  const announced = new Set<string>();
  const entry = (names: Iterable<string>, isOwn: boolean): void => {
    for (const name of names) announced.add(`${isOwn ? 'own' : 'all'} ${name}`);
  };
  source.subscribe({
    changed: ({ group, names }) => entry(names, group !== undefined),
    relisted: ({ view: only }) => {
      for (const type of [cluster, listener]) entry(source.takeRelisted(whole, type), only === whole);
    },
    allChanged: (_, only) => entry(['everything'], only === whole),
  });
  const bytesOf = (type: string, name: string, of = whole): Uint8Array | string => {
    const found = source.get(of, type, name);
    return typeof found === 'object' ? found.bytes : String(found);
  };
  const listed = (type: string) => [...source.names({ id: 'web', view: whole }, type)].sort();
  return { zone, source, view: whole, announced, bytesOf, listed };
}

/** Returns the target of an address's cluster in the view: a service, or one that closes each connection. */
function led(bytes: Uint8Array | string): string {
  if (typeof bytes === 'string') return bytes;
  const { edsClusterConfig, loadAssignment } = Cluster.decode(bytes);
  return edsClusterConfig || (loadAssignment?.endpoints.length ?? 0) > 0 ? 'sent' : 'closed';
}

const vip = (n: number): string => `vip:241.0.0.${n}:80`;

describe('what comes from App Mesh and is no backend of the VirtualNode of a Dataplane (T003-35)', () => {
  // Services by the last part of their address: vs-a, vs-b (HTTP), vn-b, and plain, which does not come from App Mesh.
  it.each<[string, readonly string[] | undefined, JsonObject, readonly string[]]>([
    ['no VirtualNode', undefined, {}, ['sent', 'pending', 'sent', 'pending']],
    ['no backend', [], {}, ['closed', 'closed', 'closed', 'pending']],
    ['vs-a', ['vs-a'], {}, ['sent', 'closed', 'closed', 'pending']],
    ['both', ['vs-a', 'vs-b'], {}, ['sent', 'sent', 'closed', 'pending']],
    [
      'vs-a, and it lists vs-b itself',
      ['vs-a'],
      { transparentProxying: { reachableBackends: { refs: [{ kind: 'MeshService', name: 'vs-b' }] } } },
      ['sent', 'closed', 'closed', 'pending'],
    ],
  ])('is not sent on demand: %s', (_, backends, networking, wanted) => {
    const { bytesOf } = setUp({ capture: REDIRECT }, web(backends, networking));
    expect([1, 2, 3, 4].map((n) => led(bytesOf(cluster, vip(n))))).toEqual(wanted);
  });

  it.each<[string, Partial<EnvoyView>, readonly string[]]>([
    ['redirect', { capture: REDIRECT }, [vip(1)]],
    ['redirect, all', { capture: REDIRECT, listed: 'all' }, ['kri_msvc_default_east__plain_80', vip(1)]],
    ['translate', { capture: { type: 'translate' } }, [vip(1), vip(4)]],
    ['translate, all', { capture: { type: 'translate' }, listed: 'all' }, [vip(1), vip(4)]],
    ['bind, all', { capture: { type: 'bind' }, listed: 'all' }, ['plain', 'vs-a'].map((each) => `kri_msvc_default_east__${each}_80`)], // prettier-ignore
  ])('is not listed with capture %s', (_, view, wanted) => {
    const { listed } = setUp(view, web(['vs-a']));
    expect(listed(cluster)).toEqual(wanted);
  });

  it('is no listener and no filter chain of its own, and other proxies have theirs', () => {
    const { source, view, bytesOf } = setUp({ capture: { type: 'bind' } }, web(['vs-a']));
    const { dataplane: _, ...others } = view;
    const bound = (n: number, of: EnvoyView) => typeof bytesOf(listener, `outbound:241.0.0.${n}:80`, of);
    expect([1, 2].map((n) => [bound(n, view), bound(n, others)])).toEqual([
      ['object', 'object'],
      ['string', 'object'],
    ]);
    const kept = source.get(others, listener, 'outbound:241.0.0.2:80');
    expect(source.get(view, listener, 'outbound:241.0.0.2:80')).toBeUndefined();
    expect(source.get(others, listener, 'outbound:241.0.0.2:80')).toBe(kept);
    const [own, theirs] = [view, others].map((of) => bytesOf(filterChain, 'fc:241.0.0.2:80', of));
    expect(own).not.toEqual(theirs);
    expect(own instanceof Uint8Array && FilterChain.decode(own).filters).toHaveLength(1);
  });

  it('is sent when the node names it, is gone when the node names it no more, and nobody else is notified', () => {
    const { zone, source, view, announced, bytesOf, listed } = setUp({ capture: REDIRECT }, web([]));
    source.subscribed({ id: 'web', view }, cluster, [vip(1), vip(2)]);
    for (const n of [1, 2]) bytesOf(cluster, vip(n));
    const change = (backends?: readonly string[]): unknown => {
      announced.clear();
      zone.put(web(backends));
      return [announced.has('own everything'), ...[1, 2].map((n) => led(bytesOf(cluster, vip(n))))];
    };
    expect(change(['vs-a'])).toEqual([true, 'sent', 'closed']);
    expect(change(['vs-a', 'vs-b'])).toEqual([true, 'sent', 'sent']);
    expect(listed(cluster)).toContain('kri_msvc_default_east__vs-b_80');
    expect(change([])).toEqual([true, 'closed', 'closed']);
    expect(listed(cluster)).toEqual([]);
    expect(change()).toEqual([true, 'sent', 'pending']);
    expect([...announced].filter((each) => each.startsWith('all '))).toEqual([]);
  });

  it('is no gRPC channel: calls fail at once, until the node names it', () => {
    const { zone, announced, bytesOf } = setUp({ wire: 'grpc' }, web(['vs-a']));
    const routes = (target: string): number => {
      const bytes = bytesOf(listener, target);
      const api = bytes instanceof Uint8Array ? Listener.decode(bytes).apiListener?.apiListener : undefined;
      const manager = api && unpack(HttpConnectionManager, api);
      const config = manager?.routeSpecifier?.$case === 'routeConfig' ? manager.routeSpecifier.value : undefined;
      return config?.virtualHosts[0]?.routes.length ?? -1;
    };
    const targets = ['vs-a.mesh', 'vs-b.mesh', 'vs-b.mesh:80', 'vn-b.mesh', 'plain.mesh'];
    expect(targets.map(routes)).toEqual([1, 0, 0, 0, 1]);
    announced.clear();
    zone.put(web(['vs-b']));
    expect([...announced]).toEqual(['own everything']);
    expect(targets.map(routes)).toEqual([0, 1, 1, 0, 1]);
  });

  it('is no explicit outbound, and the Dataplane says why', () => {
    const outbound = ['vs-a', 'vs-b', 'plain'].map((name, i) => ({
      port: 7001 + i,
      backendRef: { kind: 'MeshService', name, port: 80 },
    }));
    const { zone, source, view, announced, listed } = setUp({}, web(['vs-a'], { outbound }));
    expect(listed(listener)).toEqual(['explicit:127.0.0.1:7001', 'explicit:127.0.0.1:7003']);
    const reasons = [...source.refused({ id: 'web', view })].flatMap(({ violations }) => violations);
    expect(reasons).toMatchObject([
      {
        field: 'spec.networking.outbound[1]',
        reason: 'MeshService default/vs-b comes from App Mesh and is no backend of VirtualNode shop/web',
      },
    ]);
    zone.put(web(['vs-b'], { outbound }));
    expect(listed(listener)).toEqual(['explicit:127.0.0.1:7002', 'explicit:127.0.0.1:7003']);
    expect([1, 2].map((n) => announced.has(`own explicit:127.0.0.1:700${n}`))).toEqual([true, true]);
  });
});
