import { register } from '@grpc/grpc-js-xds';
import type { JsonObject, Resource } from '@causeway/resources';
import { freePort } from '../../scripts/lib/ports.mjs';
import { GrpcWorkload, looseTimers, type GrpcCall } from '../support/grpc-workload';
import { TestAuthority } from '../support/test-authority';
import { TrafficPlane } from '../support/traffic-plane';
import { shippedKinds, sketch } from '../support/traffic-zone';
import { until } from '../support/until';

const HOSTNAME = 'greeter.svc.mesh.local';
const OTHER_DOMAIN = 'default.west.mesh.local';
const DENIED = 'PERMISSION_DENIED';
const CALLERS = ['client', 'dev', 'stranger', 'west'] as const;
const from = (...callers: readonly JsonObject[]): JsonObject => ({ allow: { some: { from: [...callers] } } });

/** Callers of two namespaces, one without an identity, and one of another zone, all of them gRPC without a proxy. */
describe('AccessPolicy at an unmodified gRPC server (grpc-js-xds)', () => {
  let east: TrafficPlane;
  const stops: (() => void)[] = [];
  const callers = new Map<string, (call?: GrpcCall) => Promise<string>>();
  let order = 0;

  const policy = (spec: JsonObject): Resource => {
    order += 1;
    const targetRefs = [{ kind: 'MeshService', name: 'greeter' }];
    const made = sketch('AccessPolicy', 'own', { targetRefs, ...spec }, { namespace: 'shop', creationOrder: order });
    return { ...made, generation: order };
  };
  const settings = (spec: JsonObject): Resource => sketch('MeshParameters', 'p', spec);
  /** Resolves when exactly these are answered, and all others refused. */
  const allowed = (...names: readonly string[]): Promise<boolean> =>
    until(`answers for ${names.join()}`, async () => {
      const said = await Promise.all(CALLERS.map((name) => callers.get(name)?.() ?? Promise.resolve(undefined)));
      return CALLERS.every((name, i) => said[i] === (names.includes(name) ? 'east' : DENIED));
    });

  beforeAll(async () => {
    register();
    stops.push(looseTimers());
    east = await TrafficPlane.start('east');
    const west = await TestAuthority.create('west');
    const parametersRef = { group: 'causeway.io', kind: 'MeshParameters', name: 'p' };
    const identity = { selector: { dataplane: { matchLabels: {} } }, provider: { type: 'Bundled', bundled: {} } };
    const trusted = [{ type: 'Pem', pem: { value: west.certificate } }];
    const port = await freePort();
    const inbound = [{ port, name: 'grpc', tags: { app: 'greeter' } }];
    const place = { zone: 'east', namespace: 'shop' };
    const server = sketch('Dataplane', 'greeter', { networking: { address: '127.0.0.1', inbound } }, place);
    const service = {
      selector: { dataplaneTags: { app: 'greeter' } },
      ports: [{ port: 9000, name: 'grpc', targetPort: 'grpc', appProtocol: 'grpc' }],
      identities: [{ type: 'SpiffeID', value: east.spiffeId('greeter') }],
      state: 'Available',
      instances: 1,
    };
    east.state.put(
      ...shippedKinds(),
      sketch('Mesh', 'default', { parametersRef }),
      settings({ defaultAccess: 'Deny' }),
      east.trust(),
      ...['shop', 'dev'].map((namespace) => sketch('Namespace', namespace, {})),
      sketch('MeshTrust', 'west', { trustDomain: OTHER_DOMAIN, caBundles: trusted }, { zone: '' }),
      sketch('MeshIdentity', 'identity', identity, { zone: '' }),
      server,
      sketch('Dataplane', 'client', { networking: { address: '127.0.0.9' } }, place),
      sketch('Dataplane', 'dev', { networking: { address: '127.0.0.9' } }, { zone: 'east', namespace: 'dev' }),
      sketch('MeshService', 'greeter', service, {
        ...place,
        status: { addresses: [{ hostname: HOSTNAME, status: 'Available' }] },
      }),
    );
    const workload = async (name: string, id: string, view = {}): Promise<GrpcWorkload> => {
      const certificate = await (name === 'west' ? west : east.authority).issue({ uri: id });
      const authorities = [east.authority.certificate, west.certificate];
      const made = new GrpcWorkload(east, { node: name, certificate, authorities, view });
      stops.push(() => made.stop());
      return made;
    };
    await (
      await workload('greeter', east.spiffeId('greeter'), { dataplane: server.id })
    ).serve('east', `127.0.0.1:${port}`);
    for (const name of CALLERS) {
      const id = name === 'west' ? `spiffe://${OTHER_DOMAIN}/workload/client` : east.spiffeId(name);
      callers.set(name, (await workload(name, id)).channel(HOSTNAME));
    }
    await allowed();
  });
  afterAll(async () => {
    stops.forEach((stop) => stop());
    await east.stop();
  });
  afterEach(() => expect(east.problems()).toEqual([]));

  it.each<[string, JsonObject, readonly string[]]>([
    ['of a namespace', from({ namespace: 'shop' }), ['client']],
    ['of a zone', from({ zone: 'west' }), ['west']],
    [
      'by its id',
      from({ spiffeId: { type: 'Exact', value: 'spiffe://default.east.mesh.local/workload/stranger' } }),
      ['stranger'],
    ],
    [
      'by the beginning of an id',
      from({ spiffeId: { type: 'Prefix', value: 'spiffe://default.east.mesh.local/workload/' } }),
      ['client', 'dev', 'stranger'],
    ],
    ['anybody', { allow: { all: {} } }, CALLERS],
    [
      'all that are surely not of a namespace',
      { allow: { all: {} }, deny: { dev: { from: [{ namespace: 'dev' }] } } },
      ['client'],
    ],
  ])('may call: %s', async (_, spec, names) => {
    const made = policy(spec);
    east.state.put(made);
    await allowed(...names);
    east.state.delete(made);
    await allowed();
  });

  it('of calls by their path, which is service and method, and by the method of HTTP, which is POST', async () => {
    const call = (path: string): Promise<string | undefined> => Promise.resolve(callers.get('client')?.({ path }));
    const made = policy({
      allow: {
        says: {
          from: [{ namespace: 'shop' }],
          to: [{ methods: ['POST'], paths: [{ type: 'PathPrefix', value: '/test.Echo' }] }],
        },
      },
      deny: { shouts: { to: [{ paths: [{ type: 'Exact', value: '/test.Echo/Shout' }] }] } },
    });
    east.state.put(made);
    await allowed('client');
    expect([await call('/test.Echo/Shout'), await call('/test.Other/Say')]).toEqual([DENIED, DENIED]);
    east.state.put(policy({ allow: { gets: { to: [{ methods: ['GET'] }] } } }));
    await allowed();
    east.state.delete(made);
  });
});
