import { register } from '@grpc/grpc-js-xds';
import type { JsonObject, Resource } from '@causeway/resources';
import { drawnFairly } from '../support/fair-draw';
import { GrpcWorkload, looseTimers, tlsGrpc, type GrpcCall, type HoldingServer } from '../support/grpc-workload';
import { loopbackBlock } from '../support/loopback-networks';
import { TrafficPlane } from '../support/traffic-plane';
import { shippedKinds, sketch } from '../support/traffic-zone';
import { until } from '../support/until';

const host = loopbackBlock();
const PORT = 9_000;
const HOLD = { path: '/test.Echo/Hold' };
const ZONES = ['west', 'east', 'north'];
/** gRPC's own limit without configuration. */
const USUAL_LIMIT = 1_024;
const users = Array.from({ length: 128 }, (_, i) => `user-${i}`);

/** gRPC servers of the test with mutual TLS: instances of west, and in place of the ingresses of two other zones. */
describe('policies on what serves, as unmodified gRPC clients (grpc-js-xds) obey them', () => {
  let west: TrafficPlane;
  const stops: (() => void)[] = [];
  const servers = new Map<string, HoldingServer>();
  let call: (asked?: GrpcCall) => Promise<string>;
  let channel: (name: string) => typeof call;
  let order = 0;
  let made: Resource[] = [];
  const added: Resource[] = [];

  async function serve(name: string, at: string): Promise<void> {
    const certificate = await west.authority.issue({ uri: west.spiffeId('greeter') });
    servers.set(name, await tlsGrpc(name, `${at}:${PORT}`, certificate, west.authority.certificate));
  }
  const stop = (name: string): void => servers.get(name)?.stop();
  const held = (): number => [...servers.values()].reduce((sum, each) => sum + each.held(), 0);
  const release = (): void => servers.forEach((each) => each.release());

  const settled = (): Promise<unknown> => until('what the client was told', () => west.isSettled('client'));
  async function policy(kind: string, spec: JsonObject): Promise<void> {
    order += 1;
    const targetRefs = [{ kind: 'Mesh', name: 'default' }];
    const one = { ...sketch(kind, 'policy', { targetRefs, ...spec }, { creationOrder: order }), generation: order };
    west.state.put(one);
    made.push(one);
    await settled();
  }
  /** Puts an instance until the test ends. */
  function add(one: Resource): void {
    west.state.put(one);
    added.push(one);
  }
  async function withoutPolicies(): Promise<void> {
    if (made.length > 0) west.state.delete(...made);
    made = [];
    await settled();
  }
  const answers = async (count: number): Promise<string[]> => Promise.all(Array.from({ length: count }, () => call()));
  const ledTo = (...names: readonly string[]): Promise<unknown> =>
    until(`answers of ${names.join()}`, async () => [...new Set(await answers(12))].sort().join() === names.join());

  const member = (zone: string): Resource => {
    const identities = [{ type: 'SpiffeID', value: west.spiffeId('greeter') }];
    const ports = [{ port: PORT, name: 'grpc', targetPort: 'grpc', appProtocol: 'grpc' }];
    const spec = {
      selector: { dataplaneTags: { app: 'greeter' } },
      ports,
      identities,
      state: 'Available',
      instances: 1,
    };
    return sketch('MeshService', 'greeter', spec, { zone });
  };
  const group = (name: string, ...zones: readonly string[]): Resource => {
    const meshServices = zones.map((zone) => ({ name: 'greeter', namespace: 'default', zone, mesh: 'default' }));
    const ports = [{ port: PORT, name: 'grpc', appProtocol: 'grpc' }];
    const addresses = [{ hostname: `${name}.mz.mesh.local`, status: 'Available' }];
    const status = { meshServices, addresses };
    return sketch(
      'MeshMultiZoneService',
      name,
      { selector: { meshService: { matchLabels: { a: 'b' } } }, ports },
      { status },
    );
  };
  const instance = (name: string, address: string): Resource => {
    const inbound = [{ port: PORT, name: 'grpc', state: 'Ready', tags: { app: 'greeter' } }];
    return sketch('Dataplane', name, { networking: { address, inbound } });
  };

  beforeAll(async () => {
    register();
    stops.push(looseTimers());
    west = await TrafficPlane.start('west');
    west.state.put(
      ...shippedKinds(),
      west.trust(),
      sketch('Mesh', 'default', {}),
      sketch('Namespace', 'default', {}),
      ...ZONES.map(member),
      group('near', 'west'),
      group('far', ...ZONES),
      ...['east', 'north'].flatMap((zone, i) => [
        sketch('Zone', zone, {}),
        sketch('MeshZoneAddress', 'in', { address: host(21 + i), port: PORT }, { zone }),
      ]),
      ...['a', 'b', 'c'].map((name, i) => instance(name, host(11 + i))),
    );
    const names = ['a', 'b', 'c', 'd'].map((name, i) => serve(name, host(11 + i)));
    await Promise.all([...names, ...['east', 'north'].map((zone, i) => serve(zone, host(21 + i)))]);
    const certificate = await west.authority.issue({ uri: west.spiffeId('client') });
    const client = new GrpcWorkload(west, { node: 'client', certificate, authorities: [west.authority.certificate] });
    stops.push(() => client.stop());
    channel = (name) => client.channel(`${name}.mz.mesh.local`);
  });
  afterAll(async () => {
    stops.forEach((each) => each());
    servers.forEach((each) => each.stop());
    await west.stop();
  });
  afterEach(async () => {
    expect(west.problems()).toEqual([]);
    west.state.delete(...added.splice(0));
    await withoutPolicies();
  });

  describe('of one zone', () => {
    beforeAll(async () => {
      call = channel('near');
      await ledTo('a', 'b', 'c');
    });

    it('CircuitBreakerPolicy: a call more than its limit is UNAVAILABLE, and no longer when it goes', async () => {
      await policy('CircuitBreakerPolicy', { limits: { requests: 3 } });
      const first = [1, 2, 3].map(() => call(HOLD));
      await until('three calls wait', () => held() === 3);
      expect(await answers(5)).toEqual(Array(5).fill('UNAVAILABLE'));
      await policy('CircuitBreakerPolicy', { limits: { requests: 4 } });
      await until('one more passes', async () => (await call()) !== 'UNAVAILABLE');
      first.push(call(HOLD));
      await until('four calls wait', () => held() === 4);
      expect(await answers(5)).toEqual(Array(5).fill('UNAVAILABLE'));
      await withoutPolicies();
      await until('calls pass', async () => (await call()) !== 'UNAVAILABLE');
      release();
      for (const answer of await Promise.all(first)) expect(answer).toMatch(/^[abc]$/);
    });

    it('without a limit more calls pass than a client lets pass that is told none', async () => {
      await policy('CircuitBreakerPolicy', {});
      const many = Array.from({ length: USUAL_LIMIT + 76 }, () => call(HOLD));
      await until('all calls wait', () => held() === many.length);
      expect(await call()).toMatch(/^[abc]$/);
      release();
      const found = await Promise.all(many);
      expect(found.filter((answer) => !/^[abc]$/.test(answer))).toEqual([]);
    });

    const placed = async (): Promise<ReadonlyMap<string, string>> =>
      new Map(
        await Promise.all(users.map(async (user) => [user, await call({ headers: { 'x-user': user } })] as const)),
      );

    it('RingHash: one user stays at one instance; of a new one few move; without it users go everywhere', async () => {
      await policy('LoadBalancingPolicy', { algorithm: 'RingHash', hash: [{ header: 'x-user' }] });
      await until('users stay', async () => {
        const [one, other] = [await placed(), await placed()];
        return users.every((user) => one.get(user) === other.get(user));
      });
      const before = await placed();
      expect(await placed()).toEqual(before);
      expect([...new Set(before.values())].sort()).toEqual(['a', 'b', 'c']);
      add(instance('d', host(14)));
      await until('the new instance', async () => [...(await placed()).values()].includes('d'));
      await until('users stay', async () => {
        const [one, other] = [await placed(), await placed()];
        return users.every((user) => one.get(user) === other.get(user));
      });
      const after = await placed();
      const moved = users.filter((user) => before.get(user) !== after.get(user));
      // A quarter should, and a few as the parts of the ring grow; where all were placed anew, three quarters would.
      expect(moved.length).toBeLessThan(users.length * 0.55);
      await withoutPolicies();
      const one = { headers: { 'x-user': 'one' } };
      await until(
        'one user is everywhere',
        async () => new Set(await Promise.all(Array.from({ length: 16 }, () => call(one)))).size === 4,
      );
    });
  });

  describe('over zones', () => {
    beforeAll(async () => {
      for (const name of ['b', 'c']) west.state.delete(instance(name, ''));
      call = channel('far');
      await ledTo('a');
    });

    it('by weights, the own zone as any other', async () => {
      await policy('LoadBalancingPolicy', { locality: { localFirst: false, weights: { west: 1, east: 3, north: 0 } } });
      await ledTo('a', 'east');
      expect(await drawnFairly(() => answers(400), { a: 1, east: 3 })).toEqual([]);
    });

    it('by weights where a hash decides too, whatever number of endpoints a zone has', async () => {
      add(instance('b', host(12)));
      const locality = { localFirst: false, weights: { west: 1, east: 1, north: 0 } };
      await policy('LoadBalancingPolicy', { algorithm: 'RingHash', locality });
      await ledTo('a', 'b', 'east');
      const draw = async (): Promise<string[]> => (await answers(600)).map((name) => (name === 'east' ? name : 'west'));
      const counts = await draw();
      const east = counts.filter((name) => name === 'east').length;
      // A third or two, by endpoints, would be 200 or 400.
      expect([east > 240, east < 360]).toEqual([true, true]);
    });

    it('one after the other, as each fails and comes back', async () => {
      await policy('LoadBalancingPolicy', { locality: { failover: ['north'] } });
      await ledTo('a');
      stop('a');
      await ledTo('north');
      stop('north');
      await ledTo('east');
      await serve('north', host(22));
      await ledTo('north');
      await serve('a', host(11));
      await ledTo('a');
    });
  });
});
