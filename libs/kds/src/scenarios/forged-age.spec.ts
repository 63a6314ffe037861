import { compareOrders, Unavailable, type Identity, type JsonObject } from '@causeway/resources';
import { hashName } from '@causeway/naming/testing';
import { KumaZone } from '../../../../test/support/kuma-zone';
import { RoughZone } from '../../../../test/support/rough-zone';
import { joinedMesh, type JoinedMesh, TestGlobal, TestZone } from '../../../../test/support/sync-mesh';
import { until } from '../../../../test/support/until';
import { Extension } from '../wire/dialect';
import type { CountedOrder } from '../wire/request';
import { CREATION_ORDER_LABEL, type WireResource } from '../wire/wire-resource';

const SPEC = { ports: [{ port: 6379, targetPort: 6379, appProtocol: 'tcp' }], state: 'Available' };
const ROUTE = { parentRefs: [{ kind: 'Service', group: '', name: 'redis' }], rules: [{}] };
const IDENTITY = { selector: { dataplane: { matchLabels: {} } }, provider: { type: 'Bundled', bundled: {} } };

/** A zone's replica that claims of every resource that it was created in 1970. */
class ForgingZone {
  private readonly rough: RoughZone;
  private revision = 0;
  /** The kinds that the global listed as held in the last handshake. */
  resumed: readonly string[] = [];

  constructor(
    readonly zone: string,
    { port }: { readonly port: number },
    extensions?: readonly string[],
  ) {
    this.rough = new RoughZone(zone, port, extensions);
  }

  /** Joins and resolves with what sends a message of a kind: a whole state, then changes. */
  async join(): Promise<(kind: string, resources: readonly WireResource[], more?: boolean) => void> {
    const { resumePoints } = await this.rough.join();
    this.resumed = resumePoints.map(({ kind }) => kind);
    const stream = await this.rough.openUp();
    return (kind, resources, more = false) => {
      const mark = { incarnation: 'one', revision: ++this.revision, view: '', more, resumed: false, gone: [] };
      this.rough.say(stream, this.rough.response(resources, { kind, position: mark }));
    };
  }

  /** A resource of this zone; `uid` and `order` distinguish its versions. */
  forged(kind: string, name: string, { uid = `uid-${name}`, order = 1, spec = SPEC }: Forgery = {}): WireResource {
    const wire = this.rough.service(name, 1);
    const origin = { incarnation: 'one', revision: this.revision + 1, committedAt: 0 };
    const namespace = kind === 'MeshIdentity' ? '' : 'default';
    const meta = { uid, zone: this.zone, namespace, generation: 1, creationOrder: order, origin };
    return { ...wire, kind, spec, meta };
  }

  id(kind: string, name: string): Identity {
    const namespace = kind === 'MeshIdentity' ? '' : 'default';
    return { kind, mesh: 'default', zone: this.zone, namespace, name };
  }

  /** The creation orders that the global has sent. */
  receivedOrders(): readonly CountedOrder[] {
    return this.rough.heard.flatMap((request) => (request.type === 'subscribe' ? [] : (request.orders ?? [])));
  }

  leave(): void {
    this.rough.leave();
  }
}

interface Forgery {
  readonly uid?: string;
  readonly order?: number;
  readonly spec?: JsonObject;
}

describe('a zone that forges the age of its resources', () => {
  let global: TestGlobal;
  let west: TestZone;
  const evil: ForgingZone[] = [];

  beforeEach(async () => {
    global = new TestGlobal();
    west = new TestZone('west');
    await global.put('Mesh', 'default', {});
    await global.serve();
    await west.join(global);
    await west.holds(global.id('Mesh', 'default'));
  });

  afterEach(async () => {
    for (const zone of evil.splice(0)) zone.leave();
    await west.close();
    await global.close();
  });

  const forger = (zone = 'evil', extensions?: readonly string[]): ForgingZone => {
    const one = new ForgingZone(zone, global, extensions);
    evil.push(one);
    return one;
  };
  /** Whether the global and west both rank the first before the second. */
  const isBefore = async (first: Identity, second: Identity): Promise<boolean> => {
    const ranks: boolean[] = [];
    for (const plane of [global, west]) {
      const [a, b] = [await plane.holds(first), await plane.holds(second)];
      ranks.push(compareOrders(a.creationOrder, b.creationOrder) < 0);
    }
    expect(ranks[0]).toBe(ranks[1]);
    return ranks[0] === true;
  };
  const orderOf = async (id: Identity): Promise<number> => (await global.holds(id)).creationOrder;

  it.each([
    ['with every extension', undefined],
    [
      'of an older version, which is not sent them',
      Object.values(Extension).filter((name) => name !== Extension.order),
    ],
  ])('is younger than what is held when it sends it, %s', async (_, extensions) => {
    const zone = forger('evil', extensions);
    const say = await zone.join();
    say('MeshService', []);
    await west.put('MeshService', 'redis', SPEC);
    const redis = west.id('MeshService', 'redis');
    await global.holds(redis);
    say('MeshService', [zone.forged('MeshService', 'redis')]);
    expect(await isBefore(redis, zone.id('MeshService', 'redis'))).toBe(true);
    expect((await global.holds(redis)).creationOrder).toBe((await west.holds(redis)).creationOrder);
  });

  it('of what one message brings late the older stays the older, in whatever order it stands there', async () => {
    const zone = forger();
    const say = await zone.join();
    say('MeshService', []);
    await west.put('MeshService', 'redis', SPEC);
    await global.holds(west.id('MeshService', 'redis'));
    const late = [['a', 2] as const, ['b', 1] as const, ['c', 3] as const];
    say(
      'MeshService',
      late.map(([name, order]) => zone.forged('MeshService', name, { order })),
    );
    const id = (name: string): Identity => zone.id('MeshService', name);
    expect([await isBefore(id('b'), id('a')), await isBefore(id('a'), id('c'))]).toEqual([true, true]);
    expect(await isBefore(west.id('MeshService', 'redis'), id('b'))).toBe(true);
  });

  it.each([
    ['HTTPRoute', ROUTE],
    ['MeshIdentity', IDENTITY],
  ])('so are its %ss beside those of the global and of other zones', async (kind, spec) => {
    const zone = forger();
    const say = await zone.join();
    say(kind, []);
    await global.put(kind, 'ours', spec);
    await west.put(kind, 'theirs', spec);
    const others = [await orderOf(global.id(kind, 'ours')), await orderOf(west.id(kind, 'theirs'))];
    say(kind, [zone.forged(kind, 'forged', { spec })]);
    const forged = await orderOf(zone.id(kind, 'forged'));
    for (const order of others) expect(compareOrders(order, forged)).toBeLessThan(0);
  });

  it("so is what says it by the label on Kuma's wire", async () => {
    await west.put('MeshService', 'redis', SPEC);
    await global.holds(west.id('MeshService', 'redis'));
    const labels = {
      'kuma.io/display-name': 'redis',
      'kuma.io/mesh': 'default',
      'kuma.io/zone': 'kz',
      'kuma.io/origin': 'zone',
      [CREATION_ORDER_LABEL]: '1',
    };
    const service = {
      kind: 'MeshService',
      mesh: 'default',
      name: hashName('default', 'redis', 'kz'),
      labels,
      spec: SPEC,
    };
    const kuma = new KumaZone('kz');
    try {
      kuma.tell(global, { MeshService: [service] });
      const id = { kind: 'MeshService', mesh: 'default', zone: 'kz', namespace: 'default', name: 'redis' };
      expect(await isBefore(west.id('MeshService', 'redis'), id)).toBe(true);
    } finally {
      kuma.leave();
    }
  });

  it('gains nothing by a new session, or by one that never completes its state', async () => {
    const zone = forger();
    (await zone.join())('MeshService', []);
    await west.put('MeshService', 'redis', SPEC);
    await global.holds(west.id('MeshService', 'redis'));
    const again = await zone.join();
    again('MeshService', [zone.forged('MeshService', 'redis')], true);
    expect(await isBefore(west.id('MeshService', 'redis'), zone.id('MeshService', 'redis'))).toBe(true);
  });

  it('gains nothing by leaving and coming back, nor by a restart of the global', async () => {
    const zone = forger();
    (await zone.join())('MeshService', []);
    await west.put('MeshService', 'redis', SPEC);
    const redis = west.id('MeshService', 'redis');
    await global.holds(redis);
    zone.leave();
    await global.left('evil');
    const second = forger();
    (await second.join())('MeshService', [second.forged('MeshService', 'redis')]);
    expect(await isBefore(redis, second.id('MeshService', 'redis'))).toBe(true);
    await global.cut();
    await global.serve();
    const third = forger();
    (await third.join())('MeshService', [third.forged('MeshService', 'more')]);
    expect(await orderOf(third.id('MeshService', 'more'))).toBeGreaterThan(await orderOf(redis));
  });

  it('gains nothing by a deletion: while the tombstone stands the order is that of the identity', async () => {
    const zone = forger();
    const say = await zone.join();
    const id = zone.id('MeshService', 'mine');
    say('MeshService', [zone.forged('MeshService', 'mine')]);
    const first = await orderOf(id);
    await west.put('MeshService', 'redis', SPEC);
    await global.holds(west.id('MeshService', 'redis'));
    await global.write([{ type: 'delete', id, expect: 'any' }]);
    say('MeshService', [zone.forged('MeshService', 'mine', { uid: 'another' })]);
    expect(await orderOf(id)).toBe(first);
    await global.write([{ type: 'delete', id, expect: 'any' }]);
    await global.store.purgeTombstones(-1);
    say('MeshService', [zone.forged('MeshService', 'mine', { uid: 'a-third' })]);
    expect(await isBefore(west.id('MeshService', 'redis'), id)).toBe(true);
  });

  it('is sent what counts with each answer, and resumes no later until it has taken that over', async () => {
    const zone = forger();
    const say = await zone.join();
    say('MeshService', [zone.forged('MeshService', 'mine')]);
    const id = zone.id('MeshService', 'mine');
    const creationOrder = await orderOf(id);
    const { mesh, namespace, name } = id;
    await until('the order that counts', () => zone.receivedOrders().length === 1);
    expect(zone.receivedOrders()).toEqual([{ mesh, zone: 'evil', namespace, name, creationOrder }]);
    const again = await zone.join();
    expect(zone.resumed).toEqual([]);
    again('MeshService', [zone.forged('MeshService', 'mine')]);
    await until('the order that counts', () => zone.receivedOrders().length === 2);
    again('MeshService', [zone.forged('MeshService', 'mine', { order: creationOrder })]);
    again('MeshService', [zone.forged('MeshService', 'other')]);
    await until('the order that counts', () => zone.receivedOrders().length === 3);
    await zone.join();
    expect(zone.resumed).toEqual(['MeshService']);
  });

  it('cannot make a service older that it has, and may make it younger', async () => {
    const zone = forger();
    const say = await zone.join();
    const id = zone.id('MeshService', 'mine');
    say('MeshService', [zone.forged('MeshService', 'mine')]);
    const first = await orderOf(id);
    const changed = { ...SPEC, state: 'Unavailable' };
    say('MeshService', [zone.forged('MeshService', 'mine', { spec: changed })]);
    await global.holds(id, ({ spec }) => spec['state'] === 'Unavailable');
    expect(await orderOf(id)).toBe(first);
    say('MeshService', [zone.forged('MeshService', 'mine', { order: first + 7 })]);
    await global.holds(id, ({ creationOrder }) => creationOrder === first + 7);
  });
});

describe('an honest zone', () => {
  let mesh: JoinedMesh;
  let global: TestGlobal;
  let east: TestZone;
  let west: TestZone;

  beforeEach(async () => {
    mesh = await joinedMesh();
    ({ global, east, west } = mesh);
  });
  afterEach(() => mesh.close());

  const isOlderEverywhere = async (first: Identity, second: Identity): Promise<void> => {
    for (const plane of [global, east, west]) {
      const [a, b] = [await plane.holds(first), await plane.holds(second)];
      expect(compareOrders(a.creationOrder, b.creationOrder)).toBeLessThan(0);
    }
  };

  /** East has left, and has a service as a store holds it whose clock was far behind. */
  const makeBackdated = async (): Promise<Identity> => {
    await east.leave();
    await global.left('east');
    const id = east.id('MeshService', 'redis');
    const origin = { incarnation: 'another', revision: 1, committedAt: 1 };
    const copy = { uid: 'u', generation: 1, creationOrder: 5, createdAt: 1, origin };
    const labels = { 'kuma.io/origin': 'zone', 'kuma.io/zone': 'east', 'kuma.io/display-name': 'redis' };
    await east.write([{ type: 'put', id, expect: 'any', labels, spec: SPEC, copy }]);
    return id;
  };

  it('keeps the age of what it made during a cut, through restarts of both ends', async () => {
    await east.put('MeshService', 'before', SPEC);
    await west.holds(east.id('MeshService', 'before'));
    await global.report('east', 'MeshService', 'up');
    await east.leave();
    await global.left('east');
    await east.put('MeshService', 'redis', SPEC);
    const { creationOrder: made, createdAt } = await east.holds(east.id('MeshService', 'redis'));
    await until('the next millisecond', () => Date.now() > createdAt);
    await west.put('MeshService', 'redis', SPEC);
    await global.holds(west.id('MeshService', 'redis'));
    await global.cut();
    await global.serve();
    await east.join(global);
    expect((await west.holds(east.id('MeshService', 'redis'))).creationOrder).toBe(made);
    await east.holds(west.id('MeshService', 'redis'));
    await isOlderEverywhere(east.id('MeshService', 'redis'), west.id('MeshService', 'redis'));
  });

  it('is sent in the answer what counts, and ranks by it as all others do (I3); nothing is sent but its own again', async () => {
    const backdated = await makeBackdated();
    await west.put('MeshService', 'first', SPEC);
    await east.join(global);
    const counted = (await global.holds(backdated)).creationOrder;
    expect(counted).toBeGreaterThan(5);
    await east.holds(backdated, ({ creationOrder }) => creationOrder === counted);
    expect((await west.holds(backdated)).creationOrder).toBe(counted);
    await global.report('east', 'MeshService', 'up');
    const head = await global.store.head();
    await east.leave();
    await global.left('east');
    await east.join(global);
    await global.report('east', 'MeshService', 'up');
    const up = east.sync?.status().kinds.find(({ kind, direction }) => kind === 'MeshService' && direction === 'up');
    expect(up?.sent).toBeLessThanOrEqual(1);
    expect(await global.store.head()).toEqual(head);
  });

  it('is sent again in the next session what its store did not take (found by the simulation, seed 880852071)', async () => {
    const backdated = await makeBackdated();
    const write = east.store.write.bind(east.store);
    let refused = 0;
    jest.spyOn(east.store, 'write').mockImplementation((request) => {
      const isOfOrders = request.changes.some(
        (change) => change.type === 'patch' && change.creationOrder !== undefined,
      );
      return isOfOrders && refused++ === 0 ? Promise.reject(new Unavailable('the database is away')) : write(request);
    });
    await east.join(global);
    const counted = (await global.holds(backdated)).creationOrder;
    await east.holds(backdated, ({ creationOrder }) => creationOrder === counted);
    expect(refused).toBe(2);
  });
});
