import type { ProxyFacts, ProxySession, ReplicaSessions } from '../../src/proxy-sessions';
import { freshId, type StoreFixture } from './store-fixture';

const facts: ProxyFacts = {
  kind: 'dataplane',
  node: 'default.web',
  address: '10.0.0.1',
  userAgent: 'envoy 1.40.0',
  form: 'delta',
  since: 1,
  streams: 1,
  types: [],
  isSettled: true,
  rejected: [],
  refused: [],
};

function session(proxy: string, connected = true): ProxySession {
  return { proxy, connected, facts };
}

/** Sessions of proxies with the replicas of a zone: beside the log (docs/design.md §2.8). */
export function describeProxySessions(world: () => StoreFixture): void {
  describe('sessions of proxies', () => {
    const report = (instance: string, version: number, ...sessions: readonly ProxySession[]): Promise<boolean> =>
      world().proxies.report({
        instance,
        version,
        incarnation: 'i',
        revision: 10 * version,
        isEnd: false,
        sessions,
      });
    const read = async (instance: string, since?: number): Promise<ReplicaSessions | undefined> => {
      const known = new Map(since === undefined ? [] : [[instance, since]]);
      return (await world().otherProxies.read(known)).find((replica) => replica.instance === instance);
    };

    it('are read by other replicas, each only what is new since its reader read', async () => {
      const a = freshId().name;
      expect(await report(a, 1, session('one'), session('two'))).toBe(false);
      const first = await read(a);
      expect(first).toMatchObject({ version: 1, revision: 10, incarnation: 'i', isEnd: false });
      expect(first?.sessions.map(({ proxy }) => proxy)).toEqual(['one', 'two']);
      expect(first?.sessions[0]).toMatchObject({ connected: true, version: 1, changedAt: first?.seenAt, facts });
      expect(await report(a, 2, session('two', false))).toBe(true);
      const second = await read(a, 1);
      expect(second).toMatchObject({ version: 2, revision: 20 });
      expect(second?.sessions).toMatchObject([{ proxy: 'two', connected: false, version: 2 }]);
      expect((await read(a, 2))?.sessions).toEqual([]);
    });

    it('a heartbeat is by the clock of the store, and changes no session', async () => {
      const instance = freshId().name;
      await report(instance, 1, session('one'));
      const before = await read(instance);
      await report(instance, 2);
      const after = await read(instance, 1);
      expect(after?.seenAt).toBeGreaterThanOrEqual(before?.seenAt ?? Infinity);
      expect(after?.now).toBeGreaterThanOrEqual(after?.seenAt ?? Infinity);
      expect(after?.sessions).toEqual([]);
    });

    it('1,000 proxies are one report, which raises no revision', async () => {
      const instance = freshId().name;
      const { store } = world();
      const head = await store.head();
      await report(instance, 1, ...Array.from({ length: 1_000 }, (_, i) => session(`p-${i}`)));
      expect((await read(instance))?.sessions).toHaveLength(1_000);
      expect(await store.head()).toEqual(head);
    });

    it('are forgotten unless they were written again; a forgotten replica is asked to report all', async () => {
      const instance = freshId().name;
      const { otherProxies } = world();
      await report(instance, 1, session('one', false), session('two', false));
      await report(instance, 2, session('two'));
      await otherProxies.forget(['one', 'two'].map((proxy) => ({ instance, proxy, version: 1 })));
      expect((await read(instance))?.sessions.map(({ proxy }) => proxy)).toEqual(['two']);
      await otherProxies.forgetReplicas([{ instance, version: 1 }]);
      expect(await read(instance)).toBeDefined();
      await otherProxies.forgetReplicas([{ instance, version: 2 }]);
      expect(await read(instance)).toBeUndefined();
      expect(await report(instance, 3)).toBe(false);
      expect((await read(instance))?.sessions).toEqual([]);
    });
  });
}
