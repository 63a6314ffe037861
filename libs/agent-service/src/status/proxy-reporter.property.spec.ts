import type { JsonObject } from '@causeway/resources';
import { silentLogger, yieldToEventLoop } from '@causeway/runtime';
import { FakeClock } from '@causeway/runtime/testing';
import { MemoryDisk, MemoryProxySessions } from '@causeway/store/testing';
import fc from 'fast-check';
import { deltaClient, type DeltaClient } from '../../../../test/support/ads-client';
import { sketch, TrafficZone } from '../../../../test/support/traffic-zone';
import { until } from '../../../../test/support/until';
import type { EnvoyView } from '@causeway/xds-translation';
import { RESOURCE_TYPES, XdsServer } from '@causeway/xds-server';
import { ProxyReporter, REPORT_INTERVAL, type ObservedProxies } from './proxy-reporter';
import { zoneResources } from '../../../../test/support/zone-resources';

const { cluster, endpoints, listener, secret } = RESOURCE_TYPES;
const COUNTED_LATER_TIMEOUT = 30_000;
const owner = (name: string) => ({ kind: 'Dataplane', mesh: 'default', zone: 'west', namespace: 'default', name });
const VIEWS: readonly Omit<EnvoyView, 'dataplane'>[] = [
  { mesh: 'default', listed: 'all', capture: { type: 'bind' } },
  { mesh: 'default', listed: new Set() },
  { mesh: 'default', listed: new Set(), identity: () => ({ chain: 'C', key: { pem: 'K' } }) },
];

/** A zone's server with proxies of three Dataplanes, two reporters of it, and what each has reported to a store. */
class World {
  readonly clock = new FakeClock(1_000_000_000);
  readonly zone = new TrafficZone();
  readonly source = zoneResources(this.zone, 'west');
  readonly clients: DeltaClient[] = [];
  /** Counts the streams that the incremental reporter reads. */
  looks = 0;
  private readonly unfollow = this.source.follow();
  private readonly views = VIEWS.map((view, i) => ({ ...view, dataplane: owner(`p${i}`) }));
  private readonly server: XdsServer<EnvoyView>;
  private review: (proxies: Iterable<string>) => void = () => undefined;
  private readonly notAfter = new Map<string, number>();
  private readonly certified = new Set<(proxy: string) => void>();
  private readonly stores: readonly MemoryProxySessions[];
  private readonly reporters: readonly ProxyReporter[];
  private port = 0;
  private writes = 0;

  private constructor() {
    const { clock, source } = this;
    const admit = ({ node: id }: { readonly node: string }) => {
      const view = this.views[Number(id.slice(1))];
      if (!view) throw new Error(id);
      return Promise.resolve({ proxy: { id, view, owner: view.dataplane } });
    };
    const onChange = (listens: typeof this.review): (() => void) => {
      this.review = listens;
      return () => undefined;
    };
    this.server = new XdsServer({ source, auth: { admit, onChange }, clock, logger: silentLogger });
    const observed = [this.observed(false), this.observed(true)];
    this.stores = observed.map(() => new MemoryProxySessions(new MemoryDisk({ clock })));
    this.reporters = observed.map((each, i) => {
      const store = this.stores[i] ?? new MemoryProxySessions(new MemoryDisk({ clock }));
      return new ProxyReporter({ observed: each, store, instance: 'one', clock, logger: silentLogger });
    });
  }

  static async start(): Promise<World> {
    const world = new World();
    for (const i of [0, 1, 2]) world.declare(i, 0);
    world.port = await world.server.listen('127.0.0.1', 0);
    return world;
  }

  async stop(): Promise<void> {
    await Promise.all(this.clients.map((client) => client.close()));
    this.unfollow();
    await this.server.close();
  }

  act(action: string, i: number, j: number): void {
    const client = this.clients[i % Math.max(1, this.clients.length)];
    switch (action) {
      case 'write':
        return this.write(i, j);
      case 'delete':
        return this.zone.delete(sketch('MeshService', `s${i % 2}`, {}));
      case 'declare':
        return this.declare(i % 3, j);
      case 'connect':
        return this.connect(i % 3);
      case 'ask':
        return client?.send({ typeUrl: endpoints, resourceNamesSubscribe: [`nobody-${j}`] });
      case 'drop':
        return client?.send({ typeUrl: endpoints, resourceNamesUnsubscribe: [`nobody-${j}`] });
      case 'ack':
      case 'nack':
        return void (client && this.answer(client, action === 'ack' ? undefined : 'it cannot'));
      case 'close':
        return void client?.stream.cancel();
      case 'certify':
        this.notAfter.set(`p${i % 3}`, j);
        return this.certified.forEach((listens) => listens(`p${i % 3}`));
      default:
        return this.clock.advance([REPORT_INTERVAL, 5_000, 20_000, COUNTED_LATER_TIMEOUT][j % 4] ?? 0);
    }
  }

  /** Both reporters report at the same moment; their reports are equal. */
  async look(): Promise<void> {
    await Promise.all(this.reporters.map((each) => each.report()));
    const [found, wanted] = await Promise.all(this.stores.map((store) => store.read(new Map())));
    expect(found).toEqual(wanted);
  }

  /** Resolves when no proxy owes an answer, all counters were reported, and proxies that are at rest were seen so. */
  async rest(): Promise<void> {
    await until('all is answered', () => {
      for (const client of this.clients) while (this.answer(client)) continue;
      const types = [...this.server.ids()].flatMap((id) => this.server.listStreams(id).flatMap((each) => each.types));
      return types.every(({ responses: { sent, acked, rejected } }) => sent === acked + rejected);
    });
    for (let look = 0; look < 3; look++) {
      this.clock.advance(COUNTED_LATER_TIMEOUT);
      await this.look();
    }
  }

  /** Answers the oldest response that is not answered; whether there was one. */
  answer(client: DeltaClient, fault?: string): boolean {
    if (client.ended) return false;
    const response = client.responses.shift();
    if (!response) return false;
    if (fault === undefined) client.ack(response);
    else client.nack(response, fault);
    return true;
  }

  connect(i: number): void {
    const client = deltaClient(this.port, `p${i}`);
    this.clients.push(client);
    for (const typeUrl of [cluster, listener]) client.send({ typeUrl });
    client.send({ typeUrl: secret, resourceNamesSubscribe: ['identity', 'trust'] });
    client.send({ typeUrl: endpoints, resourceNamesSubscribe: ['nobody'] });
  }

  private write(i: number, j: number): void {
    const ports = [{ port: 80, appProtocol: j % 2 === 0 ? 'http' : 'tcp' }];
    const vip = { status: { vip: { ip: `241.0.0.${j % 3}`, type: 'Kuma' } }, creationOrder: (this.writes += 1) };
    this.zone.put(sketch('MeshService', `s${i % 2}`, { selector: { dataplaneTags: { app: 'a' } }, ports }, vip));
  }

  /** Another state of a Dataplane: with outbounds to a service that may be there, and to one address twice. */
  private declare(i: number, j: number): void {
    const outbound = [
      { port: 9000, backendRef: { kind: 'MeshService', name: `s${j % 3}` } },
      ...(j > 3 ? [{ port: 9000, backendRef: { kind: 'MeshService', name: 's0' } }] : []),
    ];
    const inbound = [{ port: 80 + (j % 2), tags: { app: 'a' } }];
    const networking: JsonObject = { address: `10.0.0.${i}`, inbound, ...(j > 1 && { outbound }) };
    this.zone.put(sketch('Dataplane', `p${i}`, { networking }));
    this.review([`p${i}`]);
  }

  private observed(isWhole: boolean): ObservedProxies {
    const { source, server, notAfter, certified } = this;
    const count = (): void => void (this.looks += isWhole ? 0 : 1);
    let wholes = 0;
    return {
      ids: () => server.ids(),
      listStreams: (id) => {
        count();
        const end = notAfter.get(id);
        const certificate = end === undefined ? {} : { certificate: { notAfter: end } };
        return server.listStreams(id).map((stream) => ({ ...stream, ...certificate }));
      },
      onMoved: (listens) => {
        certified.add(listens);
        return server.onMoved(listens);
      },
      onLeaving: (listens) => server.onLeaving(listens),
      get position() {
        return source.point && { revision: source.revision, point: source.point };
      },
      get generation() {
        return isWhole ? (wholes += 1) : source.generation;
      },
      findAuthorities: (version) => source.findAuthorities(version),
    };
  }
}

const actions = [
  'write',
  'write',
  'delete',
  'declare',
  'connect',
  'connect',
  'ask',
  'drop',
  'ack',
  'ack',
  'ack',
  'ack',
  'nack',
  'close',
  'certify',
  'wait',
  'wait',
  'rest',
  'rest',
  'rest',
  'rest',
  'rest',
  'rest',
];

describe('a reporter of proxies', () => {
  it('tells, from a look at what has moved, what a look at all proxies tells', async () => {
    const act = fc.tuple(fc.constantFrom(...actions), fc.nat(5), fc.nat(7), fc.boolean());
    await fc.assert(
      fc.asyncProperty(fc.array(act, { maxLength: 60 }), async (story) => {
        const world = await World.start();
        try {
          for (const i of [0, 1, 2]) world.connect(i);
          await until('the proxies', () => world.clients.every(({ responses }) => responses.length > 0));
          for (const [action, i, j, isSlow] of story) {
            if (action === 'rest') await world.rest();
            else world.act(action, i, j);
            await world.look();
            // Sent reports arrive now, or are under way at the next check.
            if (isSlow) for (let turn = 0; turn < 10; turn++) await yieldToEventLoop();
            await world.look();
          }
        } finally {
          await world.stop();
        }
      }),
      { numRuns: 15 },
    );
  });

  it('looks at no proxy that has answered all, however far the log is, and at one that asks again', async () => {
    const world = await World.start();
    try {
      for (const i of [0, 1, 2]) world.connect(i);
      await until('the proxies', () => world.clients.every(({ responses }) => responses.length > 0));
      await world.rest();
      world.looks = 0;
      world.zone.put(sketch('MeshService', 'elsewhere', {}, { mesh: 'other' }));
      for (let look = 0; look < 3; look++) {
        world.clock.advance(REPORT_INTERVAL);
        await world.look();
      }
      expect(world.looks).toBe(0);
      world.clients[1]?.send({ typeUrl: endpoints, resourceNamesSubscribe: ['another'] });
      await until('its answer', () => world.clients[1]?.responses.length === 1);
      await world.look();
      expect(world.looks).toBe(1);
    } finally {
      await world.stop();
    }
  });
});
