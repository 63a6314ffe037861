import { FollowedPolicies, FollowedRoutes } from '@causeway/meshes';
import { DeltaDiscoveryResponse } from '@causeway/proto-gen';
import type { Resource } from '@causeway/resources';
import { FakeClock } from '@causeway/runtime/testing';
import { fillAtOnce } from '@causeway/store/testing';
import { DEFAULT_XDS_LIMITS, RESOURCE_TYPES } from '@causeway/xds-server';
import { AdsSession, NameBudget, ResponseEncoder, SendBudget, Subscribers } from '@causeway/xds-server/testing';
import type { EnvoyResources, EnvoyView } from '@causeway/xds-translation';
import { shippedKinds, sketch, TrafficZone } from '../support/traffic-zone';
import { zoneResources } from '../support/zone-resources';

const { cluster, endpoints, listener } = RESOURCE_TYPES;
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
  };
  const status = {
    vips: [{ ip: `241.1.${high}.${low}` }],
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

const SETS = [Set.prototype, Map.prototype];
const WALKS = [Symbol.iterator, 'keys', 'values', 'entries'] as const;

/** Counts the steps through all sets and maps meanwhile. */
function countSteps(work: () => void): number {
  let steps = 0;
  const kept = SETS.flatMap((of) =>
    WALKS.map((walk) => ({ of, walk, was: Object.getOwnPropertyDescriptor(of, walk) })),
  );
  for (const { of, walk, was } of kept) {
    const original: unknown = was?.value;
    if (typeof original !== 'function') continue;
    const counted = function (this: unknown): unknown {
      const walked: unknown = Reflect.apply(original, this, []);
      const next: unknown = Reflect.get(Object(walked), 'next');
      if (typeof next !== 'function') return walked;
      return Object.assign(Object.create(Object(walked)), {
        next: (): unknown => {
          steps += 1;
          return Reflect.apply(next, walked, []);
        },
        [Symbol.iterator](): unknown {
          return this;
        },
      });
    };
    Object.defineProperty(of, walk, { ...was, value: counted });
  }
  try {
    work();
  } finally {
    for (const { of, walk, was } of kept) if (was) Object.defineProperty(of, walk, was);
  }
  return steps;
}

/** One proxy on one delta stream, which acks each response and asks for the endpoints of its clusters. */
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
    for (const type of [cluster, listener]) this.session.receive({ ...REQUEST, type, subscribe: ['*'] });
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
      const asked = { subscribe: resources.map(({ name }) => name), unsubscribe: removedResources };
      if (type === cluster) this.session.receive({ ...REQUEST, type: endpoints, ...asked });
      this.session.receive({ ...REQUEST, type, nonce });
      this.session.pump();
    }
  }

  close(): void {
    this.session.close();
  }
}

/** Counts the cost of one service that comes, and one that goes, among `size` services, by the mode of the proxy. */
function countService(size: number): ReadonlyMap<string, Readonly<Record<'comes' | 'goes', Counts>>> {
  const mesh = sketch('Mesh', 'default', {});
  const zone = new TrafficZone([...shippedKinds(), mesh, ...Array.from({ length: size }, (_, i) => service(i)).flat()]);
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
  const measure = (change: () => void): ReadonlyMap<string, Counts> => {
    const shared = countSteps(change);
    return new Map(
      proxies.map(([mode, proxy]) => {
        Object.assign(proxy.counts, { resources: 0, bytes: 0 });
        const own = countSteps(() => proxy.settle());
        return [mode, { ...proxy.counts, steps: shared + own }];
      }),
    );
  };
  // Objects that are made only once are made before the count.
  const [first, second] = [service(9_001), service(9_002)];
  measure(() => zone.put(...first));
  measure(() => zone.delete(...first));
  const comes = measure(() => zone.put(...second));
  const goes = measure(() => zone.delete(...second));
  for (const [, proxy] of proxies) proxy.close();
  unfollow();
  const none = { steps: 0, resources: 0, bytes: 0 };
  return new Map(proxies.map(([mode]) => [mode, { comes: comes.get(mode) ?? none, goes: goes.get(mode) ?? none }]));
}

it('what one service costs on the way to a proxy is the same among 1,000 and 8,000 services, by counts', () => {
  const [few, many] = [countService(1_000), countService(8_000)];
  for (const [mode, cost] of few)
    for (const event of ['comes', 'goes'] as const) {
      const [at1000, at8000] = [cost[event], many.get(mode)?.[event]];
      const grown = COUNTED.filter((what) => !(Number(at8000?.[what]) <= at1000[what] * 1.05 + 20));
      expect({ mode, event, at1000, at8000, grown }).toMatchObject({ grown: [] });
      expect(at1000.steps).toBeGreaterThan(0);
      // A redirected proxy asks for a service when it is called first.
      if (mode !== 'redirect') expect(at1000.resources).toBeGreaterThan(0);
    }
});
