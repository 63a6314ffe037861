import { silentLogger } from '@causeway/runtime';
import type { ProxyFacts, ProxySession } from '@causeway/store';
import { MemoryProxySessions } from '@causeway/store/testing';
import { idOf, remove } from '../../../../test/support/loop-harness';
import { COOLDOWN, names, service, VipZone } from '../../../../test/support/vip-zone';
import { ProxyDirectory } from '../proxies/proxy-directory';
import { tombstoneRetention } from './tombstone-retention';

const HOUR = 3_600_000;
const LISTENER = 'type.googleapis.com/envoy.config.listener.v3.Listener';
/** Two addresses. */
const NARROW = { MeshService: '241.0.0.0/31' };

describe('an address that was freed while proxies may use it for the service that is gone (I11)', () => {
  let zone: VipZone;
  let sessions: MemoryProxySessions;
  let directory: ProxyDirectory;
  let version = 0;
  beforeEach(() => {
    zone = new VipZone();
    const { clock, disk } = zone.harness;
    sessions = new MemoryProxySessions(disk);
    directory = new ProxyDirectory({ store: sessions, clock, logger: silentLogger });
  });
  afterEach(() => zone.harness.stop());

  const incarnation = (): string => zone.replica.index.point?.incarnation ?? '';
  const lead = (): Promise<void> =>
    zone.start(NARROW, {
      ackWatermark: () => directory.ackWatermark(incarnation()),
      waitedFor: (revision) => directory.waitedFor(incarnation(), revision),
    });
  const proxy = (name: string, more: Partial<ProxyFacts> = {}, connected = true): ProxySession => {
    const facts: ProxyFacts = {
      kind: 'dataplane',
      owner: idOf('Dataplane', name),
      node: name,
      address: '',
      userAgent: '',
      form: 'delta',
      since: 1,
      streams: 1,
      isSettled: true,
      rejected: [],
      refused: [],
      ...more,
      types: [{ type: LISTENER, subscribed: 1, held: 1, responses: { sent: 1, acked: 1, rejected: 0 } }],
    };
    return { proxy: `default/${name}`, connected, facts };
  };
  const report = async (...reported: readonly ProxySession[]): Promise<void> => {
    const { revision } = await zone.replica.store.head();
    const point = { incarnation: incarnation(), revision };
    await sessions.report({ instance: 'a', version: ++version, ...point, isEnd: false, sessions: reported });
    await directory.refresh();
  };
  /** Replica `a` reports all the time. */
  const pass = async (ms: number): Promise<void> => {
    zone.harness.clock.advance(ms);
    await report();
    await zone.replica.settle();
  };
  const purge = async (validity = 24 * HOUR): Promise<number> => {
    const { index, store } = zone.replica;
    await directory.refresh();
    return store.purgeTombstones(tombstoneRetention({ index, proxies: directory, validity }));
  };
  const reason = async (name: string): Promise<unknown> => {
    const conditions = (await zone.status(name))?.['conditions'];
    return Array.isArray(conditions) ? conditions[0]?.message : undefined;
  };
  /** Services a and b hold both addresses; a goes, and new wants its address. */
  const exhaust = async (): Promise<void> => {
    await lead();
    await zone.apply(...names('a', 'b'));
    await zone.apply(remove(service('a')));
  };

  it('is held, and the service that waits names for whom: five, and how many more', async () => {
    await exhaust();
    const { revision } = await zone.replica.store.head();
    const lagging = { applied: revision - 1 };
    const all = ['p1', 'p2', 'p3', 'p4', 'p5', 'p6', 'p7'];
    await report(...all.map((name) => proxy(name, lagging)), proxy('current'));
    await zone.apply(...names('new'));
    await pass(2 * COOLDOWN);
    const named = ['p1', 'p2', 'p3', 'p4', 'p5'].map((name) => `default/${name}`).join(', ');
    const free = 'no address of 241.0.0.0-241.0.0.1 is free';
    expect(await reason('new')).toBe(`${free}; freed addresses may still be used by ${named} and 2 more`);
    const before = await zone.replica.store.head();
    await report(...all.slice(1).map((name) => proxy(name)));
    await pass(2_000);
    expect(await zone.replica.store.head()).toEqual(before);
    await pass(30_000);
    expect(await reason('new')).toBe(`${free}; freed addresses may still be used by default/p1`);
    await report(proxy('p1'));
    await pass(2_000);
    expect(await zone.vip('new')).toBe('241.0.0.0');
  });

  it.each([
    ['without a certificate, for a day', {}, 24 * HOUR],
    ['as long as its certificate lives', { certificate: { end: 1_760_000_000_000 + 30 * HOUR } }, 30 * HOUR],
  ])('is held by a proxy that left %s', async (_, certificate, held) => {
    await exhaust();
    const { revision } = await zone.replica.store.head();
    await report(proxy('p1', { applied: revision - 1, ...certificate }, false));
    await zone.apply(...names('new'));
    await pass(held - HOUR);
    expect(await zone.vip('new')).toBeUndefined();
    await pass(2 * HOUR);
    expect(await zone.vip('new')).toBe('241.0.0.0');
  });

  it('is remembered for twice a certificate’s life, over a change of leaders', async () => {
    await exhaust();
    const { revision } = await zone.replica.store.head();
    const end = zone.harness.clock.now() + 40 * HOUR;
    await report(proxy('p1', { applied: revision - 1, certificate: { end } }, false));
    await pass(39 * HOUR);
    expect(await purge()).toBe(0);
    await lead();
    await zone.apply(...names('new'));
    await pass(2_000);
    expect(await zone.vip('new')).toBeUndefined();
    await pass(2 * HOUR);
    expect(await zone.vip('new')).toBe('241.0.0.0');
    expect(await purge(30 * HOUR)).toBe(0);
    await pass(8 * HOUR);
    expect(await purge()).toBe(1);
  });

  it('is remembered as long as a connected proxy does not take that it was freed', async () => {
    await exhaust();
    const { revision } = await zone.replica.store.head();
    await report(proxy('p1', { applied: revision - 1 }));
    await pass(100 * HOUR);
    expect(await purge()).toBe(0);
    await lead();
    await zone.apply(...names('new'));
    await pass(2 * COOLDOWN);
    expect(await zone.vip('new')).toBeUndefined();
    await report(proxy('p1'));
    await pass(2_000);
    expect(await zone.vip('new')).toBe('241.0.0.0');
    expect(await purge()).toBe(1);
  });
});
