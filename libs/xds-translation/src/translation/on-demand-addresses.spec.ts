import { Cluster, ClusterLoadAssignment } from '@causeway/proto-gen';
import type { JsonObject, Resource } from '@causeway/resources';
import { sketch, TrafficZone } from '../../../../test/support/traffic-zone';
import { RESOURCE_TYPES } from '@causeway/xds-server';
import type { EnvoyView } from '../views/envoy-view';
import { zoneResources } from '../../../../test/support/zone-resources';

const { cluster, filterChain, routes, listener } = RESOURCE_TYPES;
const VIP = '241.0.0.1:80';
const identities = [{ type: 'SpiffeID', value: 'spiffe://default.east.mesh.local/workload/a' }];

function service(name: string, appProtocol: string, ip = '241.0.0.1'): Resource {
  const spec = { identities, ports: [{ port: 80, appProtocol }] };
  return sketch('MeshService', name, spec, { zone: 'east', status: { vip: { ip } } });
}

const nameOf = (name: string): string => `kri_msvc_default_east__${name}_80`;

describe('an address that a proxy uses on demand', () => {
  const at = (port: number) => ({ address: '127.0.0.1', port });
  const setUp = (...services: readonly Resource[]) => {
    const zone = new TrafficZone([
      sketch('MeshZoneAddress', 'in', { address: '192.0.2.1', port: 10001 }, { zone: 'east' }),
      ...services,
    ]);
    const source = zoneResources(zone, 'west');
    source.follow();
    const view: EnvoyView = {
      mesh: 'default',
      listed: 'declared',
      capture: { type: 'redirect', at: at(15001), reentry: at(15011) },
    };
    const proxy = { id: 'web', view };
    const announced = new Set<string>();
    source.subscribe({
      changed: ({ names }) => names.forEach((name) => announced.add(name)),
      relisted: () => {
        for (const name of source.takeRelisted(view, cluster)) announced.add(name);
      },
      allChanged: () => undefined,
    });
    const ask = (type: string, name: string): void => source.subscribed(proxy, type, [name]);
    /** Returns the target of its cluster: the service's own, or its filter chain. */
    const led = (): string => {
      const found = source.get(view, cluster, `vip:${VIP}`);
      if (found === undefined || found === 'pending') return String(found);
      const { edsClusterConfig, loadAssignment } = Cluster.decode(found.bytes);
      if (edsClusterConfig) return 'to the service';
      return loadAssignment?.endpoints.length === 1 ? 'by its chain' : 'refused';
    };
    const listed = () => [...source.names(proxy, cluster)];
    return { zone, source, view, proxy, announced, ask, led, listed };
  };

  it('waits for the chain and the routes of an HTTP service, and is listed from then on', () => {
    const { ask, led, listed, source, proxy, announced } = setUp(service('web', 'http'));
    expect(listed()).toEqual([]);
    ask(cluster, `vip:${VIP}`);
    expect([led(), listed()]).toEqual(['pending', [nameOf('web')]]);
    ask(filterChain, `fc:${VIP}`);
    source.acked(proxy, filterChain);
    expect(led()).toBe('pending');
    ask(routes, nameOf('web'));
    announced.clear();
    source.acked(proxy, routes);
    expect([led(), [...announced]]).toEqual(['by its chain', [`vip:${VIP}`]]);
  });

  it('is let through as bytes until its chain is there where its service becomes HTTP', () => {
    const { zone, source, proxy, ask, led, listed, announced } = setUp(service('web', 'tcp'));
    ask(cluster, `vip:${VIP}`);
    expect([led(), listed()]).toEqual(['to the service', []]);
    zone.put(service('web', 'http'));
    expect(announced).toContain(`vip:${VIP}`);
    announced.clear();
    // A proxy keeps its resources while nothing is sent.
    expect([led(), listed()]).toEqual(['pending', [nameOf('web')]]);
    expect([...announced]).toEqual([nameOf('web'), 'outbound', 'outbound:reentry']);
    ask(filterChain, `fc:${VIP}`);
    ask(routes, nameOf('web'));
    source.acked(proxy, filterChain);
    source.acked(proxy, routes);
    expect(led()).toBe('by its chain');
    zone.put(service('web', 'tcp'));
    expect([led(), listed()]).toEqual(['to the service', []]);
  });

  it('serves whichever service comes to it while it waits', () => {
    const { zone, ask, led, listed } = setUp(service('web', 'http'));
    ask(cluster, `vip:${VIP}`);
    ask(filterChain, `fc:${VIP}`);
    zone.delete(service('web', 'http'));
    expect([led(), listed()]).toEqual(['refused', []]);
    zone.put(service('redis', 'tcp'));
    expect([led(), listed()]).toEqual(['to the service', []]);
  });

  it('waits for the routes of the service that comes to it', () => {
    const { zone, source, proxy, ask, led } = setUp(service('web', 'http'));
    ask(cluster, `vip:${VIP}`);
    ask(filterChain, `fc:${VIP}`);
    source.acked(proxy, filterChain);
    zone.delete(service('web', 'http'));
    zone.put(service('shop', 'http'));
    expect(led()).toBe('pending');
    ask(routes, nameOf('shop'));
    source.acked(proxy, routes);
    expect(led()).toBe('by its chain');
  });

  it('is not waited for where a proxy holds its chain and routes, and is where it has dropped them', () => {
    const { zone, source, proxy, ask, led } = setUp(service('web', 'http'));
    ask(cluster, `vip:${VIP}`);
    ask(filterChain, `fc:${VIP}`);
    ask(routes, nameOf('web'));
    source.acked(proxy, filterChain);
    source.acked(proxy, routes);
    for (const state of ['by its chain', 'pending']) {
      zone.delete(service('web', 'http'));
      expect(led()).toBe('refused');
      if (state === 'pending') source.unsubscribed(proxy, filterChain, [`fc:${VIP}`]);
      zone.put(service('web', 'http'));
      expect(led()).toBe(state);
    }
  });
});

test('nothing is kept of services that are gone, whether somebody asks for them or nobody', () => {
  const zone = new TrafficZone([service('web', 'http')]);
  const source = zoneResources(zone, 'west');
  source.follow();
  const view: EnvoyView = { mesh: 'default', listed: 'all', capture: { type: 'bind' } };
  const wanted = [
    [cluster, nameOf('web')],
    [listener, `outbound:${VIP}`],
    [routes, nameOf('web')],
  ] as const;
  const held = () => wanted.map(([type, name]) => source.get(view, type, name));
  const before = held();
  expect(held().map((each, i) => each === before[i])).toEqual([true, true, true]);
  zone.delete(service('web', 'http'));
  zone.put(service('web', 'http'));
  const after = held();
  expect(after).toEqual(before);
  // Kept resources would be the same objects.
  expect(after.map((each, i) => each === before[i])).toEqual([false, false, false]);
});

test('capture translate: every service by its address, HTTP as bytes, one object for all views, and no listener', () => {
  const zone = new TrafficZone([service('web', 'http'), service('redis', 'tcp', '241.0.0.2')]);
  const source = zoneResources(zone, 'west');
  source.follow();
  const capture = { type: 'translate' } as const;
  const views: readonly EnvoyView[] = [1, 2].map(() => ({ mesh: 'default', listed: 'declared', capture }));
  const [one, two] = views.map((view) => ({
    names: [...source.names({ id: 'web', view }, cluster)],
    listeners: [...source.names({ id: 'web', view }, listener), source.get(view, listener, `outbound:${VIP}`)],
    web: source.get(view, cluster, `vip:${VIP}`),
  }));
  expect(one).toMatchObject({ names: [`vip:${VIP}`, 'vip:241.0.0.2:80'], listeners: [undefined] });
  expect(two?.web).toBe(one?.web);
  // A proxy that has chains is led to them, also after the others were notified.
  const at = { address: '127.0.0.1', port: 15001 };
  const chained: EnvoyView = { mesh: 'default', listed: 'all', capture: { type: 'redirect', at, reentry: at } };
  for (const [type, name] of [
    [filterChain, `fc:${VIP}`],
    [routes, nameOf('web')],
  ] as const) {
    source.subscribed({ id: 'envoy', view: chained }, type, [name]);
    source.acked({ id: 'envoy', view: chained }, type);
  }
  const led = source.get(chained, cluster, `vip:${VIP}`);
  expect(led).not.toBe(one?.web);
  expect(led).not.toBe('pending');
});

test('capture translate: an endpoint that takes plaintext is marked so, though proxies speak TLS to it', () => {
  const own = sketch('Dataplane', 'a', { networking: { address: '10.0.0.1', inbound: [{ port: 80 }] } });
  const settings = (spec: JsonObject): Resource => sketch('MeshParameters', 'p', spec);
  const parametersRef = { group: 'causeway.io', kind: 'MeshParameters', name: 'p' };
  const redis = { selector: { dataplaneRef: { name: 'a' } }, identities, ports: [{ port: 80 }] };
  const zone = new TrafficZone([
    own,
    sketch('Mesh', 'default', { parametersRef }),
    settings({ mtls: 'Permissive' }),
    sketch('MeshService', 'redis', redis, { status: { vip: { ip: '241.0.0.1' } } }),
  ]);
  const source = zoneResources(zone, 'west');
  source.follow();
  /** The name of each cluster's transport sockets, and what marks its endpoint. */
  const securityOf = (type: 'translate' | 'bind'): unknown => {
    const view: EnvoyView = { mesh: 'default', listed: 'declared', capture: { type } };
    const found = source.get(view, cluster, `vip:${VIP}`);
    if (found === undefined || found === 'pending') return found;
    const { transportSocketMatches, edsClusterConfig } = Cluster.decode(found.bytes);
    const assigned = source.get(view, RESOURCE_TYPES.endpoints, edsClusterConfig?.serviceName ?? '');
    if (assigned === undefined || assigned === 'pending') return assigned;
    const [endpoint] = ClusterLoadAssignment.decode(assigned.bytes).endpoints[0]?.lbEndpoints ?? [];
    const mark = endpoint?.metadata?.filterMetadata['envoy.transport_socket_match'];
    return [transportSocketMatches.map(({ name }) => name), mark];
  };
  const [plaintext, tls] = [
    [[], { tls: 'off' }],
    [[], undefined],
  ];
  expect([securityOf('translate'), securityOf('bind')]).toEqual([plaintext, plaintext]);
  zone.takeTls(own);
  expect([securityOf('translate'), securityOf('bind')]).toEqual([plaintext, tls]);
  zone.put(settings({ mtls: 'Permissive', defaultAccess: 'Deny' }));
  expect([securityOf('translate'), securityOf('bind')]).toEqual([tls, tls]);
});
