import { silentLogger } from '@causeway/runtime';
import { FakeClock } from '@causeway/runtime/testing';
import type { Identity, JsonObject } from '@causeway/resources';
import type { ProxyFacts, ProxySession } from '@causeway/store';
import { MemoryDisk, MemoryProxySessions } from '@causeway/store/testing';
import { dataplane, idOf, LoopHarness, put, type Replica } from '../../../../test/support/loop-harness';
import { AvailabilityReconciler } from '../availability/availability-reconciler';
import { KeyedLoop } from '@causeway/loops';
import { IngressHealthReconciler } from './ingress-health';
import { createProxyConditionsLoop } from './proxy-conditions';
import { ProxyDirectory } from './proxy-directory';
import { proxiesWithoutAuthority } from './known-proxies';

const SECRETS = 'type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret';
const LISTENER = 'type.googleapis.com/envoy.config.listener.v3.Listener';
const web = idOf('MeshService', 'web');

function facts(name: string, more: Partial<ProxyFacts> = {}): ProxyFacts {
  return {
    kind: 'dataplane',
    owner: idOf('Dataplane', name),
    node: `default.${name}`,
    address: '10.0.0.1',
    userAgent: 'envoy 1.40.0',
    form: 'delta',
    since: 1,
    streams: 1,
    types: [],
    isSettled: true,
    rejected: [],
    refused: [],
    ...more,
  };
}

describe('what loops make of the proxies of a zone', () => {
  const clock = new FakeClock(1_760_000_000_000);
  let harness: LoopHarness;
  let replica: Replica;
  let sessions: MemoryProxySessions;
  let directory: ProxyDirectory;
  let version = 0;
  beforeEach(async () => {
    harness = new LoopHarness();
    replica = harness.replica();
    sessions = new MemoryProxySessions(new MemoryDisk({ clock }));
    directory = new ProxyDirectory({ store: sessions, clock, logger: silentLogger });
    await replica.lead([
      new KeyedLoop(new AvailabilityReconciler('east', directory)),
      createProxyConditionsLoop('east', directory),
      new KeyedLoop(new IngressHealthReconciler('east')),
    ]);
    const inbound = [{ port: 80, tags: { app: 'web' } }];
    await harness.write(
      ...['web-1', 'web-2'].map((name) => dataplane(name, inbound)),
      put(web, { selector: { dataplaneTags: { app: 'web' } }, ports: [{ port: 80 }] }),
    );
    await replica.settle();
  });
  afterEach(() => harness.stop());

  const report = async (instance: string, ...reported: readonly ProxySession[]): Promise<void> => {
    const { revision } = await replica.store.head();
    const point = { incarnation: 'i', revision };
    await sessions.report({ instance, version: ++version, ...point, isEnd: false, sessions: reported });
    await settle();
  };
  const settle = async (): Promise<void> => {
    await directory.refresh();
    harness.clock.advance(1_000);
    await replica.settle();
  };
  const session = (name: string, more: Partial<ProxyFacts> = {}, connected = true): ProxySession => ({
    proxy: `default/${name}`,
    connected,
    facts: facts(name, more),
  });
  const counted = async (): Promise<unknown> => (await harness.get(web))?.status?.['dataplaneProxies'];
  const listed = async (id: Identity): Promise<JsonObject[]> =>
    ((await harness.get(id))?.status?.['conditions'] as JsonObject[] | undefined) ?? [];
  const conditionsOf = async (name: string): Promise<unknown> =>
    (await listed(idOf('Dataplane', name)))
      .filter(({ type }) => type !== 'Programmed')
      .map(({ type, reason, message }) => [type, reason, message]);
  const programmed = async (id: Identity): Promise<unknown> => {
    const [found] = (await listed(id)).filter(({ type }) => type === 'Programmed');
    return found && [found['status'], found['reason'], found['observedGeneration']];
  };
  const withdrawn = async (...ids: readonly Identity[]): Promise<readonly boolean[]> =>
    Promise.all(ids.map(async (id) => (await listed(id)).some(({ type }) => type === 'Withdrawn')));
  const pass = async (ms: number, ...instances: readonly string[]): Promise<void> => {
    clock.advance(ms);
    harness.clock.advance(ms);
    for (const instance of instances) await report(instance);
    await settle();
  };

  it('a service counts the Dataplanes whose proxy is connected to some replica', async () => {
    expect(await counted()).toEqual({ total: 2, healthy: 2 });
    await report('a', session('web-1'));
    expect(await counted()).toEqual({ total: 2, connected: 1, healthy: 2 });
    await report('b', session('web-2'));
    expect(await counted()).toEqual({ total: 2, connected: 2, healthy: 2 });
    // Replica b is killed: nothing is heard of it for longer than its reports take.
    clock.advance(16_000);
    await report('a');
    expect(await counted()).toEqual({ total: 2, connected: 1, healthy: 2 });
    await report('a', session('web-1', {}, false));
    expect(await counted()).toEqual({ total: 2, connected: 0, healthy: 2 });
  });

  it('a Dataplane names what its proxy rejected and what was not sent to it, until that has ended', async () => {
    const rejected = [{ type: LISTENER, name: 'inbound:10.0.0.1:80', version: 'ab12', reason: 'no way', at: 1 }];
    await report('a', session('web-1', { rejected }), session('web-2'));
    const text = 'Listener inbound:10.0.0.1:80 (version ab12): no way';
    expect(await conditionsOf('web-1')).toEqual([['RejectedByProxy', 'Rejected', text]]);
    expect(await conditionsOf('web-2')).toEqual([]);
    const before = await replica.store.head();
    await report('a', session('web-1', { rejected: rejected.map((one) => ({ ...one, at: 2 })) }));
    expect(await replica.store.head()).toEqual(before);
    const refused = [1, 2, 3, 4].map((i) => ({ type: LISTENER, name: `l-${i}`, reason: 'name: is too long' }));
    await report('a', session('web-1', { refused }));
    const named = [1, 2, 3].map((i) => `Listener l-${i}: name: is too long`).join('; ');
    expect(await conditionsOf('web-1')).toEqual([['BreaksEnvoyRules', 'NotSent', `${named}; and 1 more`]]);
    await report('a', session('web-1'));
    expect(await conditionsOf('web-1')).toEqual([]);
  });

  it('a Dataplane is Programmed for the generation that its proxy has acked', async () => {
    const id = idOf('Dataplane', 'web-1');
    expect(await programmed(id)).toBeUndefined();
    await report('a', session('web-1', { isSettled: false }));
    expect(await programmed(id)).toBeUndefined();
    await report('a', session('web-1'));
    expect(await programmed(id)).toEqual(['True', 'Programmed', 1]);
    const lagging = { applied: (await replica.store.head()).revision };
    await harness.write(dataplane('web-1', [{ port: 81, tags: { app: 'web' } }]));
    await report('a', session('web-1', lagging));
    expect(await programmed(id)).toEqual(['True', 'Programmed', 1]);
    await report('a', session('web-1'));
    expect(await programmed(id)).toEqual(['True', 'Programmed', 2]);
    const rejected = [{ type: LISTENER, name: 'l', version: 'a', reason: 'no', at: 1 }];
    await report('a', session('web-1', { rejected }));
    expect(await programmed(id)).toEqual(['False', 'Invalid', 2]);
    const [shown] = (await listed(id)).filter(({ type }) => type === 'Programmed');
    expect(shown?.['message']).toBe('its proxy lacks 1 resource: RejectedByProxy');
    await report('a', session('web-1'));
    expect(await programmed(id)).toEqual(['True', 'Programmed', 2]);
    // It leaves, and is back within seconds; then it does not come back.
    await report('a', session('web-1', {}, false));
    expect(await programmed(id)).toEqual(['True', 'Programmed', 2]);
    await pass(4_000, 'a');
    expect(await programmed(id)).toEqual(['False', 'ProxyGone', 2]);
    const before = await replica.store.head();
    await pass(4_000, 'a');
    expect(await replica.store.head()).toEqual(before);
  });

  describe('ingresses', () => {
    const one = idOf('ZoneIngress', 'one', { mesh: '', namespace: '' });
    const two = idOf('ZoneIngress', 'two', { mesh: '', namespace: '' });
    const front = idOf('MeshZoneAddress', 'front', { namespace: '' });
    const back = idOf('MeshZoneAddress', 'back', { namespace: '' });
    const at = (address: string) => ({ address, port: 10001 });
    const ingress = (owner: Identity, connected = true): ProxySession => ({
      proxy: `/${owner.name}`,
      connected,
      facts: facts(owner.name, { kind: 'ingress', owner }),
    });
    beforeEach(async () => {
      await harness.write(
        put(one, { networking: at('10.0.0.1') }),
        put(two, { networking: { ...at('10.0.0.2'), advertisedAddress: '192.0.2.2', advertisedPort: 443 } }),
        put(front, at('10.0.0.1')),
        put(back, { address: '192.0.2.2', port: 443 }),
      );
      await report('a', ingress(one), ingress(two));
      expect(await programmed(one)).toEqual(['True', 'Programmed', 1]);
    });

    it('of which one is gone: it is withdrawn within seconds, with the address at which it listens, until it is back', async () => {
      await report('a', ingress(one, false));
      await pass(2_000, 'a');
      expect(await withdrawn(one, two, front, back)).toEqual([false, false, false, false]);
      await pass(2_000, 'a');
      expect(await withdrawn(one, two, front, back)).toEqual([true, false, true, false]);
      await report('a', ingress(two, false));
      await pass(4_000, 'a');
      // The last ones stay: they may still serve although no replica is connected to them.
      expect(await withdrawn(one, two, front, back)).toEqual([false, false, false, false]);
      await report('a', ingress(two));
      expect(await withdrawn(one, two, front, back)).toEqual([true, false, true, false]);
      await report('a', ingress(one));
      expect(await withdrawn(one, two, front, back)).toEqual([false, false, false, false]);
    });

    it('whose control plane ends, and one that is killed: nothing is withdrawn, until they had time to come back', async () => {
      await report('b', ingress(two));
      const { revision } = await replica.store.head();
      const end = { instance: 'a', version: ++version, incarnation: 'i', revision, isEnd: true };
      await sessions.report({ ...end, sessions: [ingress(one, false)] });
      await pass(60_000, 'b');
      expect(await withdrawn(one, two, front, back)).toEqual([false, false, false, false]);
      expect(await programmed(one)).toEqual(['True', 'Programmed', 1]);
      // Replica b is gone without a word, c serves.
      await pass(20_000, 'c');
      expect(await withdrawn(one, two, front, back)).toEqual([false, false, false, false]);
      await report('c', ingress(two));
      await pass(60_000, 'c');
      expect(await withdrawn(one, two, front, back)).toEqual([true, false, true, false]);
      expect(await programmed(two)).toEqual(['True', 'Programmed', 1]);
    });
  });

  it('a replica is heard up to its last report; one that lives and has reported nothing of this log holds back', async () => {
    const { revision } = await replica.store.head();
    expect(directory.heardUpTo('i')).toBe(-1);
    await directory.refresh();
    expect(directory.heardUpTo('i')).toBe(Infinity);
    await report('a', session('web-1'));
    expect([directory.heardUpTo('i'), directory.heardUpTo('another log')]).toEqual([revision, -1]);
    const point = { incarnation: 'i', revision: revision + 10 };
    await sessions.report({ instance: 'b', version: ++version, ...point, isEnd: false, sessions: [] });
    await settle();
    expect(directory.heardUpTo('i')).toBe(revision);
    // The replica of the older report is gone without a word.
    clock.advance(20_000);
    await sessions.report({ instance: 'b', version: ++version, ...point, isEnd: false, sessions: [] });
    await settle();
    expect(directory.heardUpTo('i')).toBe(revision + 10);
    await sessions.report({ instance: 'b', version: ++version, ...point, isEnd: true, sessions: [] });
    await settle();
    expect(directory.heardUpTo('i')).toBe(-1);
  });

  it('names the connected proxies that have not accepted an authority', async () => {
    const types = [{ type: SECRETS, subscribed: 2, held: 2, responses: { sent: 2, acked: 2, rejected: 0 } }];
    await report(
      'a',
      session('new', { types, authorities: ['old', 'next'] }),
      session('old', { types, authorities: ['old'] }),
      session('none', { types }),
      session('gone', { types }, false),
      session('plain'),
    );
    const missing = (isConcerned?: (mesh: string) => boolean) =>
      proxiesWithoutAuthority(directory.all(), 'next', isConcerned);
    expect(missing()).toEqual(['default/none', 'default/old']);
    expect(missing((mesh) => mesh === 'other')).toEqual([]);
    const egress = {
      ...session('out', { types, kind: 'egress', authoritiesIn: { default: ['next'], other: ['old'] } }),
    };
    await report('a', { ...egress, proxy: '/egress/out' });
    expect(missing((mesh) => mesh === 'other')).toEqual(['/egress/out']);
    expect(missing((mesh) => mesh === 'default')).toEqual(['default/none', 'default/old']);
  });
});
