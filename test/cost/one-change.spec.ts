import { FollowedPolicies, FollowedRoutes } from '@causeway/meshes';
import { DeltaDiscoveryResponse } from '@causeway/proto-gen';
import type { Resource } from '@causeway/resources';
import { FakeClock } from '@causeway/runtime/testing';
import { fillAtOnce } from '@causeway/store/testing';
import { DEFAULT_XDS_LIMITS, readEndpointsName, RESOURCE_TYPES } from '@causeway/xds-server';
import { AdsSession, NameBudget, ResponseEncoder, SendBudget, Subscribers } from '@causeway/xds-server/testing';
import type { EnvoyResources, EnvoyView } from '@causeway/xds-translation';
import { countSteps } from '../support/count-steps';
import { TestAuthority } from '../support/test-authority';
import { shippedKinds, sketch, TrafficZone } from '../support/traffic-zone';
import { zoneResources } from '../support/zone-resources';

const { cluster, endpoints, listener, secret } = RESOURCE_TYPES;
const REQUEST = {
  node: undefined,
  nonce: '',
  error: undefined,
  subscribe: [],
  unsubscribe: [],
  names: [],
  versions: new Map<string, string>(),
  version: '',
};
/** The head of a frame of gRPC, before the message. */
const FRAME_HEAD = 5;

const redirect = { at: { address: '127.0.0.1', port: 15001 }, reentry: { address: '127.0.0.1', port: 15002 } };
const VIEWS: Readonly<Record<string, EnvoyView>> = {
  bind: { mesh: 'default', listed: 'all', capture: { type: 'bind' } },
  redirect: { mesh: 'default', listed: 'all', capture: { type: 'redirect', ...redirect } },
  'an ingress': { mesh: '', listed: new Set(), ingress: { address: '10.0.0.9', port: 10001 } },
};

/** A service of one instance, with a virtual IP and a name. */
function service(i: number): readonly [Resource, Resource] {
  const [high, low] = [Math.floor(i / 250), (i % 250) + 1];
  const networking = {
    address: `10.1.${high}.${low}`,
    inbound: [{ port: 80, state: 'Ready', tags: { 'kuma.io/service': `s${i}` } }],
  };
  const spec = {
    selector: { dataplaneTags: { 'kuma.io/service': `s${i}` } },
    ports: [{ port: 80, targetPort: 80, appProtocol: 'tcp' }],
    state: 'Available',
    instances: 1,
    identities: [{ type: 'SpiffeID', value: `spiffe://default.west.mesh.local/s${i}` }],
  };
  const status = {
    vip: { ip: `241.1.${high}.${low}` },
    addresses: [{ hostname: `s${i}.mesh`, status: 'Available' }],
  };
  return [sketch('MeshService', `s${i}`, spec, { status }), sketch('Dataplane', `d${i}`, { networking })];
}

interface Counts {
  /** Steps through sets and maps, lists of names among them, of everything that is between the index and the proxy. */
  steps: number;
  resources: number;
  bytes: number;
}

const COUNTED = ['steps', 'resources', 'bytes'] as const;

/** The clusters that a proxy asks for: one of `redirect` those that were used. */
const CLUSTERS: Readonly<Record<string, readonly string[]>> = { redirect: ['vip:241.1.0.3:80', 'vip:241.1.0.5:80'] };

/** One proxy on one delta stream, which acks what it is sent and asks for the endpoints of its clusters. */
class CountedProxy {
  readonly counts = { resources: 0, bytes: 0 };
  private readonly session: AdsSession<EnvoyView>;
  private readonly unacked: Buffer[] = [];

  constructor(source: EnvoyResources, subscribers: Subscribers<EnvoyView>, id: string, view: EnvoyView) {
    const clock = new FakeClock(0);
    this.session = new AdsSession<EnvoyView>(
      { id, view },
      {
        form: 'delta',
        source,
        clock,
        subscribers,
        encoder: new ResponseEncoder(),
        counters: { responses: 0, resources: 0, unchanged: 0, rejections: 0, staleNonces: 0 },
        mostNames: DEFAULT_XDS_LIMITS.names,
        names: new NameBudget(1_000_000, 0),
        budget: new SendBudget<EnvoyView>(DEFAULT_XDS_LIMITS.unackedBytes, clock),
        send: (frame) => void this.unacked.push(frame),
        rejected: () => undefined,
        moved: () => undefined,
        failed: (error) => {
          throw error;
        },
      },
    );
    this.session.receive({ ...REQUEST, type: cluster, subscribe: CLUSTERS[id] ?? ['*'] });
    this.session.receive({ ...REQUEST, type: listener, subscribe: ['*'] });
    this.session.receive({ ...REQUEST, type: secret, subscribe: ['trust'] });
    this.settle();
  }

  /** Sends and acks until nothing is left to be sent. */
  settle(): void {
    this.session.pump();
    for (let frame = this.unacked.shift(); frame; frame = this.unacked.shift()) {
      const {
        typeUrl: type,
        nonce,
        resources,
        removedResources,
      } = DeltaDiscoveryResponse.decode(frame.subarray(FRAME_HEAD));
      this.counts.bytes += frame.length;
      this.counts.resources += resources.length + removedResources.length;
      if (type === cluster) this.askEndpoints(resources);
      this.session.receive({ ...REQUEST, type, nonce });
      this.session.pump();
    }
  }

  private askEndpoints(clusters: DeltaDiscoveryResponse['resources']): void {
    const named = clusters.flatMap(
      ({ resource }) => readEndpointsName(cluster, Buffer.from(resource?.value ?? [])) ?? [],
    );
    if (named.length > 0) this.session.receive({ ...REQUEST, type: endpoints, subscribe: named });
  }

  close(): void {
    this.session.close();
  }
}

/** The other zone, with its ingress and a service. */
const EAST = { zone: 'east' };
const ingress = (address: string): Resource => sketch('MeshZoneAddress', 'in', { address, port: 10001 }, EAST);
const away: readonly Resource[] = [
  ingress('198.51.100.1'),
  sketch(
    'MeshService',
    'away',
    {
      ports: [{ port: 80, appProtocol: 'tcp' }],
      state: 'Available',
      identities: [{ type: 'SpiffeID', value: 'spiffe://default.east.mesh.local/away' }],
    },
    { ...EAST, status: { vip: { ip: '241.2.0.1' } } },
  ),
];

/** A change: the resources as they are put, and those that are put back; none if they are deleted. */
interface Change {
  readonly put: readonly Resource[];
  readonly back?: readonly Resource[];
}

/** Concerns all services: what a proxy is sent of it is what the proxy uses. */
const MESH_POLICY = 'a policy of the Mesh';
const OF_MESH = { kind: 'Mesh', name: 'default' };

const to = (name: string) => ({ kind: 'MeshService', name });
const CHANGES: Readonly<Record<string, (nth: number, authority: string) => Change>> = {
  'a service': (nth) => ({ put: service(9_000 + nth) }),
  'an instance': (nth) => {
    const inbound = [{ port: 80, state: 'Ready', tags: { 'kuma.io/service': 's1' } }];
    return { put: [sketch('Dataplane', `more-${nth}`, { networking: { address: `10.2.0.${nth}`, inbound } })] };
  },
  'a route': (nth) => {
    const rules = [{ backendRefs: [{ name: 's3', port: 80 }] }];
    return { put: [sketch('TCPRoute', `r${nth}`, { parentRefs: [to('s2')], rules })] };
  },
  'a policy of one service': (nth) => {
    const limits = { connections: 100 + nth };
    return { put: [sketch('CircuitBreakerPolicy', `p${nth}`, { targetRefs: [to('s4')], limits })] };
  },
  [MESH_POLICY]: (nth) => {
    const limits = { connections: 200 + nth };
    return { put: [sketch('CircuitBreakerPolicy', `m${nth}`, { targetRefs: [OF_MESH], limits })] };
  },
  'the ingress of a zone': (nth) => ({ put: [ingress(`198.51.100.${10 + nth}`)], back: [ingress('198.51.100.1')] }),
  'an authority': (nth, authority) => {
    const caBundles = [{ type: 'Pem', pem: { value: authority } }];
    const trustDomain = `default.east${nth}.mesh.local`;
    return { put: [sketch('MeshTrust', `east${nth}`, { trustDomain, caBundles }, { zone: '' })] };
  },
};

/** Changes of which a proxy must be sent something, by its mode. */
const SENT: Readonly<Record<string, readonly string[]>> = {
  bind: Object.keys(CHANGES),
  redirect: ['an authority', 'a policy'],
  'an ingress': ['a service', 'an instance'],
};

type Costs = ReadonlyMap<string, Counts>;

/** Counts the cost of each change among so many services, by change and mode of the proxy. */
function countChanges(size: number, authority: string): Costs {
  const mesh = sketch('Mesh', 'default', {});
  const services = Array.from({ length: size }, (_, i) => service(i)).flat();
  const zone = new TrafficZone([...shippedKinds(), mesh, ...away, ...services]);
  const { index, access } = zone;
  const given = { index, meshes: access.meshes, run: fillAtOnce };
  const routes = new FollowedRoutes({ ...given, zone: 'west' });
  const policies = new FollowedPolicies({ ...given, routes });
  const source = zoneResources(zone, 'west', { routes, policies });
  const unfollow = source.follow();
  const subscribers = new Subscribers<EnvoyView>(new FakeClock(0), source);
  source.subscribe(subscribers);
  const proxies = Object.entries(VIEWS).map(
    ([mode, view]) => [mode, new CountedProxy(source, subscribers, mode, view)] as const,
  );
  const costs = new Map<string, Counts>();
  const measure = (what: string, change: () => void): void => {
    const shared = countSteps(change);
    for (const [mode, proxy] of proxies) {
      Object.assign(proxy.counts, { resources: 0, bytes: 0 });
      const own = countSteps(() => proxy.settle());
      // What it costs the control plane once may grow with the services that it concerns.
      const steps = what.startsWith(MESH_POLICY) ? own : shared + own;
      costs.set(`${mode}: ${what}`, { ...proxy.counts, steps });
    }
  };
  for (const [what, make] of Object.entries(CHANGES))
    // Objects that are made only once are made by the first.
    for (const nth of [1, 2]) {
      const { put, back } = make(nth, authority);
      measure(`${what} comes`, () => zone.put(...put));
      measure(`${what} goes`, () => (back ? zone.put(...back) : zone.delete(...put)));
    }
  for (const [, proxy] of proxies) proxy.close();
  unfollow();
  return costs;
}

describe('what one change costs on the way to a proxy, by counts, among 1,000 and 8,000 services:', () => {
  let few: Costs;
  let many: Costs;
  beforeAll(async () => {
    const { certificate } = await TestAuthority.create('east');
    [few, many] = [countChanges(1_000, certificate), countChanges(8_000, certificate)];
  });

  const changes = Object.keys(CHANGES).flatMap((what) => [`${what} comes`, `${what} goes`]);
  const rows = Object.keys(VIEWS).flatMap((mode) => changes.map((change) => [mode, change] as const));
  // A proxy of `bind` has every service, and a policy of the Mesh is in each of their resources.
  it.each(rows.filter(([mode, change]) => mode !== 'bind' || !change.startsWith(MESH_POLICY)))(
    '%s: %s',
    (mode, change) => {
      const [at1000, at8000] = [few, many].map((costs) => costs.get(`${mode}: ${change}`));
      const grown = COUNTED.filter((what) => !(Number(at8000?.[what]) <= Number(at1000?.[what]) * 1.05 + 20));
      expect({ at1000, at8000, grown }).toMatchObject({ grown: [] });
      if (!change.startsWith(MESH_POLICY)) expect(at1000?.steps).toBeGreaterThan(0);
      if (SENT[mode]?.some((what) => change.startsWith(what)) === true) expect(at1000?.resources).toBeGreaterThan(0);
    },
  );
});
