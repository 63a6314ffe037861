import fc from 'fast-check';
import type { JsonObject } from '@causeway/resources';
import { EAST_AUTHORITY, LEAF_CERTIFICATE, NEXT_EAST_AUTHORITY } from './certificates';
import { sketch } from './traffic-zone';

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
    fromAppMesh: fc.boolean(),
    selector: fc.constantFrom<JsonObject>(
      { dataplaneTags: { app: 'a' } },
      { dataplaneLabels: {} },
      { dataplaneRef: { name: 'a' } },
    ),
  })
  .map(({ name, zone, mesh, vip, ports, known, healthy, state, order, hostnames, selector, fromAppMesh }) =>
    sketch(
      'MeshService',
      name,
      { selector, ports, state, instances: healthy, ...(known && { identities }) },
      {
        zone,
        mesh,
        creationOrder: order,
        labels: fromAppMesh ? { 'causeway.io/managed-by': 'VirtualService' } : {},
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
    // The backends of its VirtualNode, and its own list.
    backends: fc.option(fc.subarray(['a', 'b', 'b.c']), { nil: undefined }),
    listed: fc.option(fc.subarray(['a', 'b', 'b.c']), { nil: undefined }),
    outbounds: fc.subarray(['a', 'b']),
    // With four inbounds and more, only the services of those that change are computed anew.
    others: fc.array(fc.record({ app: fc.constantFrom('a', 'b'), state: fc.constantFrom('Ready', 'NotReady') }), {
      maxLength: 3,
    }),
  })
  .map(({ name, app, state, address, zone, ingress, others, backends, listed, outbounds }) => {
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
    const refs = listed?.map((each) => ({ kind: 'MeshService', name: each }));
    const networking = {
      address,
      inbound,
      listeners,
      ...(refs && { transparentProxying: { reachableBackends: { refs } } }),
      outbound: outbounds.map((each, i) => ({
        port: 7001 + i,
        backendRef: { kind: 'MeshService', name: each, port: 80 },
      })),
    };
    const bound = backends && {
      namespace: 'default',
      name: 'n',
      backends: backends.map((each) => ({ namespace: 'default', name: each })),
    };
    return sketch('Dataplane', name, { networking }, { zone, labels, status: bound ? { virtualNode: bound } : {} });
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
      tls: { enabled: tls, verification: { caCert: { inlineString: EAST_AUTHORITY } } },
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

/** Valid settings, missing ones, broken ones, and a Mesh of another controller. */
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
    kinds: fc.option(fc.constant([{ kind: 'HTTPRoute' }]), { nil: undefined }),
    mtls: fc.constantFrom('Strict', 'Permissive', 'Off', undefined, 'Perhaps'),
    defaultAccess: fc.constantFrom('Allow', 'Deny', undefined),
    override: fc.option(fc.constantFrom('Strict', 'Permissive'), { nil: undefined }),
  })
  .map(({ name, kinds, mtls, defaultAccess, override }) =>
    sketch('MeshParameters', name, {
      ...(kinds && { allowedRoutes: { kinds } }),
      ...(mtls !== undefined && { mtls }),
      ...(defaultAccess !== undefined && { defaultAccess }),
      ...(override !== undefined && {
        mtlsOverrides: [{ selector: { matchLabels: { app: 'a' } }, port: 80, mtls: override }],
      }),
      maxConnectionAge: '30m',
    }),
  );

const routePort = fc.constantFrom(80, 6379, 9000);
const serviceKind = fc.constantFrom('Service', 'MeshMultiZoneService');
const backend = fc.record({
  kind: serviceKind,
  namespace: fc.constant('default'),
  name: fc.constantFrom('a', 'b', 'b.c', 'missing'),
  port: routePort,
  weight: fc.nat(2),
});
const mirror = backend.map(({ weight: _, ...backendRef }) => ({
  type: 'RequestMirror',
  requestMirror: { backendRef },
}));
const matches = {
  HTTPRoute: fc.constantFrom<readonly JsonObject[]>([], [{ path: { type: 'Exact', value: '/a' } }]),
  GRPCRoute: fc.constantFrom<readonly JsonObject[]>([], [{ method: { service: 'a.B' } }]),
};

/** Routes of producers and of consumers, of the zone and of the global. */
const route = fc
  .record({
    kind: fc.constantFrom('HTTPRoute', 'GRPCRoute', 'TCPRoute'),
    name: fc.constantFrom('a', 'b'),
    place: fc.record({
      mesh: fc.constantFrom('default', 'default', 'other'),
      namespace: fc.constantFrom('default', 'clients'),
      zone: fc.constantFrom('west', ''),
      creationOrder: fc.nat(3),
    }),
    parent: fc.record(
      { kind: serviceKind, namespace: fc.constant('default'), name, port: routePort },
      { requiredKeys: ['kind', 'namespace', 'name'] },
    ),
    matches: fc.record(matches),
    backendRefs: fc.array(backend, { maxLength: 3 }),
    filters: fc.array(mirror, { maxLength: 1 }),
  })
  .map(({ kind, name, place, parent, matches, backendRefs, filters }) => {
    const more = kind === 'HTTPRoute' || kind === 'GRPCRoute' ? { matches: matches[kind], filters } : {};
    return sketch(kind, name, { parentRefs: [parent], rules: [{ backendRefs, ...more }] }, place);
  });

/** A resource of a zone that its traffic depends on. */
export const trafficResource = fc.oneof(
  service,
  service,
  dataplane,
  multizone,
  external,
  entrance,
  zone,
  trust,
  meshes,
  parameters,
  route,
  route,
);
