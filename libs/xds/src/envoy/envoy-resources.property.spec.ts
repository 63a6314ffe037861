import fc from 'fast-check';
import { identityKey, type JsonObject, type Resource } from '@causeway/resources';
import { EAST_AUTHORITY, LEAF_CERTIFICATE, NEXT_EAST_AUTHORITY } from '../../../../test/support/certificates';
import { sketch, TrafficZone } from '../../../../test/support/traffic-zone';
import { RESOURCE_TYPES } from '../resources/encoded-resource';
import { ClusterLoadAssignment } from '@causeway/proto-gen';
import { targetsOf } from './destination-table';
import { EnvoyResources } from './envoy-resources';
import type { EnvoyView } from './envoy-view';
import type { Loading } from './traffic-tables';

const zones = ['west', 'east', 'north'];
const identities = [{ type: 'SpiffeID', value: 'spiffe://default.east.mesh.local/workload/a' }];
const ports = [
  { port: 80, name: 'http', appProtocol: 'http' },
  { port: 6379, targetPort: 'main' },
  { port: 9000, appProtocol: 'grpc' },
];
const vip = fc.option(fc.constantFrom('241.0.0.1', '241.0.0.2', 'fd00::1'), { nil: undefined });
const statusOf = (ip: string | undefined): JsonObject => (ip === undefined ? {} : { vip: { ip, type: 'Kuma' } });
const name = fc.constantFrom('a', 'b', 'b.c');

const service = fc
  .record({
    name,
    zone: fc.constantFrom(...zones),
    mesh: fc.constantFrom('default', 'other'),
    vip,
    ports: fc.subarray(ports),
    known: fc.boolean(),
    healthy: fc.nat(3),
    state: fc.constantFrom('Available', 'Unavailable'),
    order: fc.nat(3),
    hostnames: fc.subarray(['a.mesh', 'b.mesh']),
    selector: fc.constantFrom<JsonObject>(
      { dataplaneTags: { app: 'a' } },
      { dataplaneLabels: {} },
      { dataplaneRef: { name: 'a' } },
    ),
  })
  .map(({ name, zone, mesh, vip, ports, known, healthy, state, order, hostnames, selector }) =>
    sketch(
      'MeshService',
      name,
      { selector, ports, state, instances: healthy, ...(known && { identities }) },
      {
        zone,
        mesh,
        creationOrder: order,
        status: {
          ...statusOf(vip),
          addresses: hostnames.map((hostname) => ({ hostname, status: 'Available' })),
        },
      },
    ),
  );
const dataplane = fc
  .record({
    name,
    app: fc.constantFrom('a', 'b'),
    state: fc.constantFrom('Ready', 'NotReady', 'Ignored'),
    address: fc.constantFrom('10.0.0.1', '10.0.0.2', 'host.example'),
    zone: fc.constantFrom('west', 'east'),
    ingress: fc.boolean(),
    // With four inbounds and more, only the services of those that change are computed anew.
    others: fc.array(fc.record({ app: fc.constantFrom('a', 'b'), state: fc.constantFrom('Ready', 'NotReady') }), {
      maxLength: 3,
    }),
  })
  .map(({ name, app, state, address, zone, ingress, others }) => {
    const inbound = [
      ...[80, 6379, 9000].map((port) => ({
        port,
        ...(port === 6379 && { name: 'main' }),
        state,
        tags: { app },
      })),
      ...others.map(({ app, state }, n) => ({ port: [80, 9000, 9001][n] ?? 0, name: 'main', state, tags: { app } })),
    ];
    const labels = { app };
    const listeners = ingress ? [{ type: 'ZoneIngress', address: '10.0.0.9', port: 10001 }] : [];
    return sketch('Dataplane', name, { networking: { address, inbound, listeners } }, { zone, labels });
  });
const multizone = fc.record({ name, vip, ports: fc.subarray(ports), members: fc.subarray(zones) }).map((given) =>
  sketch(
    'MeshMultiZoneService',
    given.name,
    { ports: given.ports, selector: { meshService: { matchLabels: { a: 'b' } } } },
    {
      status: {
        ...statusOf(given.vip),
        meshServices: given.members.map((zone) => ({ name: 'a', namespace: 'default', zone, mesh: 'default' })),
      },
    },
  ),
);
const external = fc
  .record({
    name,
    vip,
    host: fc.constantFrom('api.example.com', '192.0.2.1'),
    tls: fc.boolean(),
    protocol: fc.constantFrom('tcp', 'http', 'grpc'),
  })
  .map(({ name, vip, host, tls, protocol }) => {
    const endpoints = [
      { address: host, port: 443 },
      { address: '192.0.2.9', port: 443, priority: 3 },
    ];
    const spec = {
      match: { port: 443, protocol },
      endpoints,
      tls: { enabled: tls, verification: { caCert: { inlineString: '-----BEGIN CA' } } },
    };
    return sketch('MeshExternalService', name, spec, { status: statusOf(vip) });
  });
const entrance = fc
  .record({
    zone: fc.constantFrom('east', 'north'),
    address: fc.constantFrom('192.0.2.1', '192.0.2.2', 'in.example'),
    mesh: fc.boolean(),
  })
  .map(({ zone, address, mesh }) =>
    mesh
      ? sketch('MeshZoneAddress', 'in', { address, port: 10001 }, { zone })
      : sketch('ZoneIngress', 'in', { networking: { address, port: 10001 } }, { zone }),
  );
const zone = fc
  .record({
    name: fc.constantFrom('east', 'north'),
    enabled: fc.boolean(),
    policy: fc.constantFrom('keep', 'depreferred', 'withdraw', undefined),
  })
  .map(({ name, enabled, policy }) =>
    sketch('Zone', name, { enabled }, { status: policy ? { lost: { policy, since: '' } } : {} }),
  );
const trust = fc
  .record({
    name,
    domain: fc.constantFrom('one', 'two'),
    pem: fc.constantFrom(EAST_AUTHORITY, NEXT_EAST_AUTHORITY, LEAF_CERTIFICATE, 'garbage'),
    zone: fc.constantFrom('', 'west', 'east'),
  })
  .map(({ name, domain, pem, zone }) =>
    sketch('MeshTrust', name, { trustDomain: domain, caBundles: [{ type: 'Pem', pem: { value: pem } }] }, { zone }),
  );

/** Settings in force, missing ones, broken ones, and a Mesh of somebody else. */
const meshes = fc
  .record({
    mesh: fc.constantFrom('default', 'other'),
    ref: fc.constantFrom('a', 'b', undefined),
    controllerName: fc.constantFrom('causeway.io/control-plane', 'somebody.else/x'),
    narrowed: fc.nat(2),
  })
  .map(({ mesh, ref, controllerName, narrowed }) => {
    const parametersRef = { group: 'causeway.io', kind: 'MeshParameters', name: ref ?? '' };
    const spec = { controllerName, ...(ref !== undefined && { parametersRef }) };
    return sketch('Mesh', mesh, spec, { status: { access: { narrowed } } });
  });
const parameters = fc
  .record({
    name: fc.constantFrom('a', 'b'),
    mtls: fc.constantFrom('Strict', 'Permissive', 'Off', undefined, 'Perhaps'),
    defaultAccess: fc.constantFrom('Allow', 'Deny', undefined),
    override: fc.option(fc.constantFrom('Strict', 'Permissive'), { nil: undefined }),
  })
  .map(({ name, mtls, defaultAccess, override }) =>
    sketch('MeshParameters', name, {
      ...(mtls !== undefined && { mtls }),
      ...(defaultAccess !== undefined && { defaultAccess }),
      ...(override !== undefined && {
        mtlsOverrides: [{ selector: { matchLabels: { app: 'a' } }, port: 80, mtls: override }],
      }),
      maxConnectionAge: '30m',
    }),
  );

const change = fc.record({
  resources: fc.array(
    fc.oneof(service, service, dataplane, multizone, external, entrance, zone, trust, meshes, parameters),
    {
      minLength: 1,
      maxLength: 3,
    },
  ),
  gone: fc.boolean(),
});

const dataplaneId = { kind: 'Dataplane', mesh: 'default', zone: 'west', namespace: 'default', name: 'a' };
const identity = (): { chain: string; key: { pem: string } } => ({ chain: 'C', key: { pem: 'K' } });
const views: EnvoyView[] = [
  {
    mesh: 'default',
    capture: { type: 'bind' },
    listed: 'all',
    dataplane: dataplaneId,
    identity,
  },
  {
    mesh: 'default',
    capture: {
      type: 'redirect',
      at: { address: '127.0.0.1', port: 15001 },
      reentry: { address: '127.0.0.1', port: 15011 },
      ipv6: true,
    },
    listed: 'all',
  },
  {
    mesh: 'default',
    capture: {
      type: 'redirect',
      at: { address: '127.0.0.1', port: 15001 },
      reentry: { address: '127.0.0.1', port: 15011 },
      withoutChains: true,
    },
    listed: 'all',
  },
  { mesh: 'other', capture: { type: 'bind' }, listed: 'all' },
  { mesh: 'default', listed: new Set(), dataplane: dataplaneId, identity },
  { mesh: 'default', wire: 'grpc', listed: new Set(), dataplane: dataplaneId },
  { mesh: 'default', listed: new Set(), ingress: { address: '127.0.0.1', port: 10001 } },
];

const cluster = RESOURCE_TYPES.cluster;

function listedBy(source: EnvoyResources, view: EnvoyView): ReadonlySet<string> {
  const types = [cluster, RESOURCE_TYPES.listener];
  return new Set(types.flatMap((type) => [...source.names({ id: 'p', view }, type)].map((one) => `${type} ${one}`)));
}

/** All that the proxies of a view can hold: what they list, what that names, and every address on demand. */
function everything(source: EnvoyResources, view: EnvoyView): Map<string, string> {
  const found = new Map<string, string>();
  const take = (type: string, name: string): void => {
    const resource = source.get(view, type, name);
    if (resource === 'pending') return;
    if (resource) found.set(`${type} ${name}`, resource.version);
    if (resource?.endpointsName !== undefined) take(RESOURCE_TYPES.endpoints, resource.endpointsName);
  };
  for (const hostname of ['a.mesh', 'b.mesh']) take(RESOURCE_TYPES.hostName, hostname);
  if (view.wire === 'grpc') {
    for (const destination of source.model.destinations()) {
      for (const target of targetsOf(destination)) take(RESOURCE_TYPES.listener, target);
      take(cluster, destination.name);
      take(RESOURCE_TYPES.endpoints, destination.name);
      checkGrpcEndpoints(source.get(view, RESOURCE_TYPES.endpoints, destination.name));
    }
    return found;
  }
  for (const type of [cluster, RESOURCE_TYPES.listener])
    for (const name of source.names({ id: 'p', view }, type)) take(type, name);
  for (const name of ['identity', 'trust']) take(RESOURCE_TYPES.secret, name);
  for (const ip of ['241.0.0.1', '241.0.0.2', '[fd00::1]'])
    for (const port of [80, 443, 6379, 9000]) {
      take(cluster, `vip:${ip}:${port}`);
      take(RESOURCE_TYPES.filterChain, `fc:${ip}:${port}`);
    }
  for (const { name } of source.model.destinations()) take(RESOURCE_TYPES.routes, name);
  return found;
}

/** What grpc-js asks of endpoints, else it rejects them. */
function checkGrpcEndpoints(resource: ReturnType<EnvoyResources['get']>): void {
  if (resource === undefined || resource === 'pending') throw new Error('gRPC is never told that endpoints are absent');
  const { endpoints } = ClusterLoadAssignment.decode(resource.bytes);
  const addresses = endpoints.flatMap(({ lbEndpoints }) =>
    lbEndpoints.map((each) => JSON.stringify(each.hostIdentifier)),
  );
  expect(new Set(addresses).size).toBe(addresses.length);
  const places = endpoints.map(({ locality, priority }) => `${locality?.zone ?? ''} ${priority}`);
  expect(new Set(places).size).toBe(places.length);
  for (const { locality, loadBalancingWeight = 0, lbEndpoints } of endpoints) {
    expect(locality?.zone).toBeTruthy();
    expect(loadBalancingWeight).toBeGreaterThan(0);
    expect(lbEndpoints.length).toBeGreaterThan(0);
  }
  const ranks = [...new Set(endpoints.map(({ priority }) => priority))].sort((a, b) => a - b);
  expect(ranks).toEqual(ranks.map((_, i) => i));
}

test('what followed every change is what a fresh start makes, every difference was told, and Envoy’s rules hold', () => {
  fc.assert(
    // With 0, a change of access makes everything be derived anew.
    fc.property(fc.array(change, { maxLength: 12 }), fc.constantFrom(0, Infinity), (changes, mostAtOnce) => {
      const held = new Map<string, Resource>();
      const followed = new TrafficZone();
      const source = new EnvoyResources(followed.index, 'west', followed.access, { mostAtOnce });
      source.follow();
      const told = new Set<string>();
      let isAllTold = false;
      source.subscribe({
        changed: ({ type, names, group = '' }) => names.forEach((each) => told.add(`${group} ${type} ${each}`)),
        relisted: () => undefined,
        reloaded: () => (isAllTold = true),
      });
      for (const { resources, gone } of changes) {
        const before = views.map((view) => everything(source, view));
        const wasListed = views.map((view) => listedBy(source, view));
        const listedOwn = views.map((view) => source.listsOwn(view));
        told.clear();
        isAllTold = false;
        const distinct = [...new Map(resources.map((each) => [identityKey(each.id), each])).values()];
        if (gone) followed.delete(...distinct);
        else followed.put(...distinct);
        for (const each of distinct) {
          if (gone) held.delete(identityKey(each.id));
          else held.set(identityKey(each.id), each);
        }
        const after = views.map((view) => everything(source, view));
        after.forEach((now, i) => {
          const then = before[i] ?? new Map<string, string>();
          for (const key of new Set([...now.keys(), ...then.keys()]))
            if (!isAllTold && now.get(key) !== then.get(key) && !isNewlyAsked(key, then, now)) {
              const view = views[i] ?? { mesh: '', listed: 'all' };
              // Who lists what is its own alone is told of it with its group.
              const isOwn =
                listedOwn[i] === true && (wasListed[i]?.has(key) === true || listedBy(source, view).has(key));
              const keys = [...(isOwn ? [] : [` ${key}`]), `${source.groupOf(view) ?? 'none'} ${key}`];
              expect(keys.some((each) => told.has(each)) || `${key} was not told`).toBe(true);
            }
        });
      }
      const again = new TrafficZone([...held.values()].reverse());
      const fresh = new EnvoyResources(again.index, 'west', again.access);
      expect([...source.model.destinations()].sort(byName)).toEqual([...fresh.model.destinations()].sort(byName));
      for (const view of views) expect(everything(source, view)).toEqual(everything(fresh, view));
      for (const view of views)
        for (const each of [source, fresh]) expect([...each.refused({ id: 'web-1', view })]).toEqual([]);
    }),
    { numRuns: 40 },
  );
});

test('a load in slices, with changes between its steps, gives what a fresh start makes, and is told at its end', () => {
  fc.assert(
    fc.property(fc.array(change, { maxLength: 12 }), fc.array(fc.nat(6), { maxLength: 12 }), (changes, pauses) => {
      const held = new Map<string, Resource>();
      const store = new TrafficZone();
      const write = ({ resources, gone }: (typeof changes)[number]): void => {
        const distinct = [...new Map(resources.map((each) => [identityKey(each.id), each])).values()];
        if (gone) store.delete(...distinct);
        else store.put(...distinct);
        for (const each of distinct) {
          if (gone) held.delete(identityKey(each.id));
          else held.set(identityKey(each.id), each);
        }
      };
      const half = Math.floor(changes.length / 2);
      changes.slice(0, half).forEach(write);
      const steps: Iterator<unknown>[] = [];
      const ends: (() => void)[] = [];
      const load: Loading = (work, done) => {
        steps.push(work[Symbol.iterator]());
        ends.push(done);
      };
      const source = new EnvoyResources(store.index, 'west', store.access, { load });
      source.follow();
      const told: number[] = [];
      source.subscribe({ changed: () => undefined, relisted: () => undefined, reloaded: (at) => void told.push(at) });
      const before = source.revision;
      changes.slice(half).forEach((each, n) => {
        for (let step = 0; step < (pauses[n] ?? 0); step++) steps[0]?.next();
        write(each);
        // What is served, and up to which revision, stays as it was.
        expect([source.revision, [...source.model.destinations()]]).toEqual([before, []]);
      });
      while (steps[0]?.next().done === false);
      ends[0]?.();
      expect([told, source.revision]).toEqual([[before + 1], store.index.point?.revision]);
      const again = new TrafficZone([...held.values()].reverse());
      const fresh = new EnvoyResources(again.index, 'west', again.access);
      expect([...source.model.destinations()].sort(byName)).toEqual([...fresh.model.destinations()].sort(byName));
      for (const view of views) expect(everything(source, view)).toEqual(everything(fresh, view));
    }),
    { numRuns: 15 },
  );
});

/** Endpoints that no cluster of the view named before, or that none names now: Envoy asks for them, or drops them, by itself. */
function isNewlyAsked(key: string, then: ReadonlyMap<string, string>, now: ReadonlyMap<string, string>): boolean {
  return key.startsWith(`${RESOURCE_TYPES.endpoints} `) && then.has(key) !== now.has(key);
}

function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return a.name < b.name ? -1 : 1;
}
