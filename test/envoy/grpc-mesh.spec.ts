/*
 * GRPC clients without a proxy: first call, failover, weights, mutual TLS.
 */
import { freePort } from '../../scripts/lib/ports.mjs';
import { register } from '@grpc/grpc-js-xds';
import type { JsonObject, Labels, Resource } from '@causeway/resources';
import type { EnvoyView } from '@causeway/xds-translation';
import { ENVOY } from '../support/envoy-process';
import { GrpcWorkload, looseTimers, plainCall, plainGrpc } from '../support/grpc-workload';
import { TestAuthority } from '../support/test-authority';
import { putAll, TrafficPlane } from '../support/traffic-plane';
import { sketch } from '../support/traffic-zone';
import { until } from '../support/until';

const HOSTNAME = 'greeter.svc.mesh.local';
const SNI = 'sni.mzsvc.default.greeter.grpc';
const LOCAL = 'sni.msvc.default.west.greeter.grpc';
const PORTS = [{ port: 9000, name: 'grpc', targetPort: 'grpc', appProtocol: 'grpc' }];

interface ServiceSketch {
  readonly workload?: string;
  readonly instances?: number;
  readonly status?: JsonObject;
}

/** A MeshService of a zone, as every zone holds it. */
function service(
  name: string,
  zone: string,
  { workload = name, instances = 1, status = {} }: ServiceSketch = {},
): Resource {
  const identities = [{ type: 'SpiffeID', value: `spiffe://default.${zone}.mesh.local/workload/${workload}` }];
  const known = { identities, state: 'Available', instances };
  const spec = { selector: { dataplaneTags: { app: name } }, ports: PORTS, ...known };
  return sketch('MeshService', name, spec, {
    zone,
    status,
  });
}

function greeter(zone: string, workload: string, status: JsonObject = {}): Resource {
  return service('greeter', zone, { workload, status });
}

/** The status of a MeshMultiZoneService with a member in each zone. */
function members(name: string, ...zones: readonly string[]): JsonObject {
  return { meshServices: zones.map((zone) => ({ name, namespace: 'default', zone, mesh: 'default' })) };
}

const named = (...hostnames: readonly string[]): JsonObject => ({
  addresses: hostnames.map((hostname) => ({ hostname, status: 'Available' })),
});

interface WorkloadSketch {
  readonly view?: Partial<EnvoyView>;
  readonly signer?: TestAuthority;
  readonly others?: readonly (TrafficPlane | undefined)[];
}

describe('unmodified gRPC clients and servers (grpc-js-xds) on our resources', () => {
  let [west, east]: readonly TrafficPlane[] = [];
  const stops: (() => void)[] = [];
  let client: GrpcWorkload;
  let at = '';

  /** A workload of a zone that believes the authorities of this zone and of `others`. */
  async function workload(
    plane: TrafficPlane,
    name: string,
    { view, signer = plane.authority, others = [west, east] }: WorkloadSketch = {},
  ): Promise<GrpcWorkload> {
    const certificate = await signer.issue({ uri: plane.spiffeId(name) });
    const authorities = [plane, ...others].flatMap((each) => (each ? [each.authority.certificate] : []));
    const made = new GrpcWorkload(plane, {
      node: `${name}-${stops.length}`,
      certificate,
      authorities,
      ...(view && { view }),
    });
    stops.push(() => made.stop());
    return made;
  }

  beforeAll(async () => {
    register();
    stops.push(looseTimers());
    const [a, b] = await Promise.all([TrafficPlane.start('west'), TrafficPlane.start('east')]);
    [west, east] = [a, b];
    const port = await freePort();
    at = `127.0.0.1:${port}`;
    putAll([a, b], greeter('west', 'greeter', named(HOSTNAME)), greeter('east', 'greeter'));
    const dataplane = a.dataplane('greeter', {
      address: '127.0.0.1',
      inbound: [{ port, name: 'grpc', tags: { app: 'greeter' } }],
    });
    const server = await workload(a, 'greeter', { view: { dataplane: dataplane.id } });
    await server.serve('west', at);
    client = await workload(a, 'client');
  });
  afterAll(async () => {
    stops.forEach((stop) => stop());
    await Promise.all([west?.stop(), east?.stop()]);
  });
  afterEach(() => expect([...(west?.problems() ?? []), ...(east?.problems() ?? [])]).toEqual([]));

  it.each([HOSTNAME, `${HOSTNAME}:9000`, LOCAL])(
    'a call to %s is answered by a server with mutual TLS',
    async (target) => {
      expect(await client.channel(target)()).toBe('west');
    },
  );

  it('a server whose id is not the service’s is not believed, until it is', async () => {
    west?.state.put(greeter('west', 'other', named(HOSTNAME)));
    const call = client.channel(HOSTNAME);
    await until('the refusal', async () => (await call()) === 'UNAVAILABLE');
    west?.state.put(greeter('west', 'greeter', named(HOSTNAME)));
    await until('an answer', async () => (await call()) === 'west');
  });

  it('plain text and strangers are refused by the server', async () => {
    expect(await plainCall(at)).toBe('UNAVAILABLE');
    const stranger = await workload(west as TrafficPlane, 'client', { signer: await TestAuthority.create('stranger') });
    expect(await stranger.channel(HOSTNAME)()).toBe('UNAVAILABLE');
  });

  it('an unknown name fails at once, and is served when it comes; what goes and comes back is taken again', async () => {
    const call = client.channel('new.svc.mesh.local');
    // grpc-js gives up by itself after 15 s; at its deadline a call fails otherwise.
    expect(await call({ within: 10_000 })).toBe('UNAVAILABLE');
    west?.state.put(greeter('west', 'greeter', named(HOSTNAME, 'new.svc.mesh.local')));
    await until('an answer', async () => (await call()) === 'west');
    west?.state.delete(greeter('west', 'greeter'));
    await until('the end', async () => (await call()) === 'UNAVAILABLE');
    west?.state.put(greeter('west', 'greeter', named(HOSTNAME, 'new.svc.mesh.local')));
    await until('an answer again', async () => (await call()) === 'west');
  });

  it('a service of App Mesh is reached by the clients of a VirtualNode that has it as backend alone (T003-35)', async () => {
    const plane = west as TrafficPlane;
    const bound = (...backends: readonly string[]): Resource => {
      const virtualNode = {
        namespace: 'default',
        name: 'n',
        backends: backends.map((name) => ({ namespace: 'default', name })),
      };
      const networking = { address: '127.0.0.1' };
      return sketch('Dataplane', 'bound', { networking }, { status: { virtualNode } });
    };
    const put = (labels: Labels): void => plane.state.put({ ...greeter('west', 'greeter', named(HOSTNAME)), labels });
    plane.state.put(bound());
    const made = await workload(plane, 'client', { view: { dataplane: bound().id } });
    const [call, other] = [made.channel(HOSTNAME), client.channel(HOSTNAME)];
    await until('it is outside App Mesh', async () => (await call()) === 'west');
    put({ 'causeway.io/managed-by': 'VirtualService' });
    await until('it is withheld', async () => (await call()) === 'UNAVAILABLE');
    expect(await other()).toBe('west');
    plane.state.put(bound('greeter'));
    await until('it is a backend', async () => (await call()) === 'west');
    plane.state.put(bound('another'));
    await until('it is none any more', async () => (await call()) === 'UNAVAILABLE');
    put({});
    await until('it is outside App Mesh again', async () => (await call()) === 'west');
    expect(await other()).toBe('west');
  });

  it('grpc-js believes each authority for every id: one of east that says it is of west is taken by a server of west', async () => {
    const liar = await (east as TrafficPlane).authority.issue({ uri: (west as TrafficPlane).spiffeId('client') });
    const authorities = [(west as TrafficPlane).authority.certificate];
    const made = new GrpcWorkload(west as TrafficPlane, { node: 'liar', certificate: liar, authorities });
    stops.push(() => made.stop());
    // Envoy refuses it (test/envoy/traffic.spec.ts). docs/reference/xds-translation.md describes what to do about it.
    expect(await made.channel(HOSTNAME)()).toBe('west');
  });

  it('zones share the calls by their instances, and a channel may name the server of another zone', async () => {
    const north = await TrafficPlane.start('north');
    stops.push(() => void north.stop());
    const a = west as TrafficPlane;
    // Here the server itself is the entrance of its zone: an ingress would pass the same bytes on.
    for (const [plane, instances] of [
      [east as TrafficPlane, 3],
      [north, 1],
    ] as const) {
      const port = await freePort();
      const dataplane = plane.dataplane('front', { address: '127.0.0.1', inbound: [{ port }] });
      const server = await workload(plane, 'front', {
        view: { dataplane: dataplane.id },
        others: [a],
      });
      await server.serve(plane.zone, `127.0.0.1:${port}`);
      a.state.put(sketch('MeshZoneAddress', 'in', { address: '127.0.0.1', port }, { zone: plane.zone }));
      a.state.put(service('front', plane.zone, { instances, status: named(`front.svc.${plane.zone}.mesh.local`) }));
    }
    a.state.put(
      sketch(
        'MeshMultiZoneService',
        'front',
        { ports: PORTS },
        { zone: '', status: members('front', 'east', 'north') },
      ),
    );
    const caller = await workload(a, 'client', { others: [east, north] });
    const call = caller.channel('sni.mzsvc.default.front.grpc');
    for (const zone of ['east', 'north']) await until(`an answer of ${zone}`, async () => (await call()) === zone);
    const answers = await Promise.all(Array.from({ length: 400 }, () => call()));
    expect([...new Set(answers)].sort()).toEqual(['east', 'north']);
    const ofNorth = answers.filter((answer) => answer === 'north').length;
    // A quarter, with five standard deviations to either side.
    expect(ofNorth).toBeGreaterThan(56);
    expect(ofNorth).toBeLessThan(144);
    const options = { 'grpc.ssl_target_name_override': 'sni.msvc.default.north.front.grpc' };
    expect(await caller.channel('front.svc.north.mesh.local', options)()).toBe('north');
  });

  (ENVOY === undefined ? describe.skip : describe)('and the zone ingress of east,', () => {
    const INGRESS = { address: '127.0.0.1', port: 0 };
    const group = sketch(
      'MeshMultiZoneService',
      'greeter',
      { ports: PORTS },
      { zone: '', status: members('greeter', 'west', 'east') },
    );

    beforeAll(async () => {
      const [a, b] = [west as TrafficPlane, east as TrafficPlane];
      const backend = await plainGrpc('east');
      stops.push(backend.stop);
      const [entrance, port] = [await freePort(), await freePort()];
      const inbound = [{ port, servicePort: backend.port, name: 'grpc', protocol: 'grpc', tags: { app: 'greeter' } }];
      const dataplane = b.dataplane('greeter', { address: '127.0.0.1', inbound });
      const view = { mesh: 'default', listed: new Set<string>() };
      putAll([a, b], a.trust(''), b.trust(''), group);
      putAll([a, b], sketch('MeshZoneAddress', 'in', { ...INGRESS, port: entrance }, { zone: 'east' }));
      await b.envoy('ingress', { ...view, ingress: { ...INGRESS, port: entrance } });
      await b.envoy('server', { ...view, dataplane: dataplane.id }, 'greeter');
    });

    it('calls are answered here first, by the other zone where nobody is here, and here again', async () => {
      const call = client.channel(SNI);
      await until('west', async () => (await call()) === 'west');
      const ready = (state: string): Resource =>
        (west as TrafficPlane).dataplane('greeter', {
          address: '127.0.0.1',
          inbound: [{ port: Number(at.split(':')[1]), name: 'grpc', state, tags: { app: 'greeter' } }],
        });
      ready('NotReady');
      await until('east', async () => (await call()) === 'east');
      ready('Ready');
      await until('west again', async () => (await call()) === 'west');
    });
  });
});
