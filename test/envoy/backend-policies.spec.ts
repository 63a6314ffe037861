import type { JsonObject } from '@causeway/resources';
import { BackendPlane, SHOP, WEB, type Instance } from '../support/backend-plane';
import { ENVOY } from '../support/envoy-process';
import { say } from '../support/mesh-processes';
import { until } from '../support/until';

const users = Array.from({ length: 64 }, (_, i) => `user-${i}`);

(ENVOY === undefined ? describe.skip : describe)('policies on what serves, as a real Envoy obeys them', () => {
  let zone: BackendPlane;
  const stat = (name: string): Promise<number> => zone.client.stat(`cluster.${WEB}.${name}`);

  beforeAll(async () => {
    zone = await BackendPlane.start();
  });
  afterAll(() => zone.stop());
  afterEach(async () => {
    expect(zone.plane.problems()).toEqual([]);
    await zone.removePolicies();
    await zone.removeInstances();
  });

  const instances = (...names: readonly string[]): Promise<Instance[]> =>
    Promise.all(names.map((name) => zone.instance(name)));
  const statuses = async (count: number): Promise<readonly number[]> =>
    (await Promise.all(Array.from({ length: count }, () => zone.ask()))).map(({ status }) => status);

  describe('CircuitBreakerPolicy', () => {
    const held = (all: readonly Instance[]): number => all.reduce((sum, each) => sum + each.held(), 0);

    it('refuses what is more than its limit of requests, and no longer when it goes', async () => {
      const all = await instances('a', 'b');
      for (const each of all) each.status = 0;
      await zone.policy('CircuitBreakerPolicy', { limits: { requests: 3 } });
      const first = [zone.ask(), zone.ask(), zone.ask()];
      await until('three requests wait', () => held(all) === 3);
      const refused = await zone.ask();
      expect([refused.status, refused.headers['x-envoy-overloaded']]).toEqual([503, 'true']);
      await zone.removePolicies();
      const more = [zone.ask(), zone.ask()];
      await until('five requests wait', () => held(all) === 5);
      for (const each of all) each.release();
      const answers = await Promise.all([...first, ...more]);
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    });

    it('of a namespace holds where the service has none, and the more special one wins', async () => {
      const [only] = await instances('a');
      if (only) only.status = 0;
      await zone.policy('CircuitBreakerPolicy', { limits: { requests: 1 } }, { kind: 'Namespace', name: SHOP });
      const waiting = zone.ask();
      await until('one request waits', () => only?.held() === 1);
      expect(await statuses(1)).toEqual([503]);
      only?.release();
      expect((await waiting).status).toBe(200);
    });

    it('leaves out an instance that fails, and takes it back', async () => {
      const [, bad] = await instances('a', 'b');
      if (!bad) throw new Error('no instance');
      bad.status = 500;
      const ejection = { consecutiveErrors: 3, interval: '100ms', time: '1h' };
      await zone.policy('CircuitBreakerPolicy', { ejection });
      await until('an ejection', async () => {
        await zone.ask();
        return (await stat('outlier_detection.ejections_active')) === 1;
      });
      expect(await statuses(50)).toEqual(Array(50).fill(200));
      // A shorter one: it comes back by itself.
      const ejected = await stat('outlier_detection.ejections_enforced_total');
      await zone.policy('CircuitBreakerPolicy', { ejection: { ...ejection, time: '1s' } });
      await until('another ejection', async () => {
        await zone.ask();
        return (await stat('outlier_detection.ejections_enforced_total')) > ejected;
      });
      bad.status = 200;
      await until('answers of the instance', async () => (await zone.ask()).by === 'b');
    });

    it('never leaves out more than its share', async () => {
      const all = await instances('a', 'b');
      for (const each of all) each.status = 500;
      const ejection = { consecutiveErrors: 1, interval: '100ms', time: '1h', maxPercent: 50 };
      await zone.policy('CircuitBreakerPolicy', { ejection });
      await until('an ejection', async () => {
        await zone.ask();
        return (await stat('outlier_detection.ejections_active')) === 1;
      });
      expect(await statuses(20)).toEqual(Array(20).fill(500));
      expect(await stat('outlier_detection.ejections_active')).toBe(1);
    });
  });

  describe('LoadBalancingPolicy', () => {
    const placed = async (): Promise<ReadonlyMap<string, string>> => {
      const found = await Promise.all(
        users.map(async (user) => [user, (await zone.ask({ 'x-user': user })).by] as const),
      );
      return new Map(found);
    };

    it.each(['RingHash', 'Maglev'])('%s: one user stays at one instance; of a new one few move', async (algorithm) => {
      await instances('a', 'b', 'c');
      await zone.policy('LoadBalancingPolicy', { algorithm, hash: [{ header: 'x-user' }] });
      const before = await placed();
      expect(await placed()).toEqual(before);
      expect([...new Set(before.values())].sort()).toEqual(['a', 'b', 'c']);
      await zone.instance('d');
      await until('the new instance', async () => [...(await placed()).values()].includes('d'));
      const after = await placed();
      const moved = users.filter((user) => before.get(user) !== after.get(user));
      // A quarter should; where all were placed anew, three quarters would.
      expect(moved.length).toBeLessThan(users.length * 0.55);
    });

    it('a cookie that the proxy gives keeps a user at one instance', async () => {
      await instances('a', 'b', 'c');
      await zone.policy('LoadBalancingPolicy', { algorithm: 'RingHash', hash: [{ cookie: 'place', ttl: '1h' }] });
      const first = await zone.ask();
      const cookie = first.headers['set-cookie']?.[0]?.split(';')[0] ?? '';
      expect(cookie).toMatch(/^place=/);
      const again = await Promise.all(Array.from({ length: 20 }, () => zone.ask({ cookie })));
      expect(new Set(again.map(({ by }) => by))).toEqual(new Set([first.by]));
    });

    it('holds on the way by a route too, and goes with the policy', async () => {
      await instances('a', 'b', 'c');
      const rules = [{ backendRefs: [{ name: 'web', port: 10_080 }] }];
      const route = zone.route('by', { parentRefs: [{ kind: 'MeshService', name: 'web' }], rules });
      await zone.policy('LoadBalancingPolicy', { algorithm: 'RingHash', hash: [{ header: 'x-user' }] });
      const stays = async (): Promise<boolean> => {
        const answers = await Promise.all(Array.from({ length: 30 }, () => zone.ask({ 'x-user': 'one' })));
        return new Set(answers.map(({ by }) => by)).size === 1;
      };
      expect(await stays()).toBe(true);
      await zone.removePolicies();
      await until('others answer', async () => !(await stays()));
      await zone.remove(route);
    });

    it.each(['RoundRobin', 'LeastRequest', 'Random'])('%s reaches all instances', async (algorithm) => {
      await instances('a', 'b', 'c');
      await zone.policy('LoadBalancingPolicy', { algorithm });
      const found = new Set<string>();
      await until('all answer', async () => found.add((await zone.ask()).by).size === 3);
    });
  });

  it('no request fails while policies come and go', async () => {
    await instances('a', 'b');
    let isOver = false;
    const failures: unknown[] = [];
    let answered = 0;
    const workers = Array.from({ length: 4 }, async () => {
      while (!isOver) {
        const { status } = await zone.ask().catch((error: unknown) => ({ status: error }));
        if (status === 200) answered += 1;
        else failures.push(status);
      }
    });
    const specs: readonly (readonly [string, JsonObject])[] = [
      ['CircuitBreakerPolicy', { limits: { connections: 500 }, ejection: {} }],
      ['LoadBalancingPolicy', { algorithm: 'Maglev', hash: [{ sourceAddress: true }] }],
      ['LoadBalancingPolicy', { algorithm: 'LeastRequest', locality: { weights: { west: 3 } } }],
    ];
    for (let round = 0; round < 4; round++) {
      for (const [kind, spec] of specs) {
        await zone.policy(kind, spec);
        const now = answered;
        await until('requests by the new policy', () => answered > now + 20);
      }
      await zone.removePolicies();
    }
    isOver = true;
    await Promise.all(workers);
    expect(failures).toEqual([]);
  });

  describe('RateLimitPolicy', () => {
    const COUNT = 5;

    /** Starts the proxy of an instance, at an address of its own. */
    async function proxied(protocol: string): Promise<{ readonly at: string; readonly port: number }> {
      const { port: servicePort } = await zone.process(`behind-${protocol}`);
      const [at, port] = [zone.host(protocol === 'http' ? 50 : 51), 20_080];
      const inbound = [{ port, servicePort, protocol, name: 'main', tags: { app: 'web' } }];
      const dataplane = zone.putDataplane(`proxied-${protocol}`, { address: at, inbound });
      await zone.plane.envoy(`server-${protocol}`, { mesh: 'default', listed: new Set(), dataplane: dataplane.id });
      await zone.obeyed();
      return { at, port };
    }

    it('as many requests as it says pass at an instance; the next is answered 429 by its name', async () => {
      const { at, port } = await proxied('http');
      await zone.policy('RateLimitPolicy', { requests: { count: COUNT, per: '24h' } });
      const answers: number[] = [];
      for (let i = 0; i < COUNT + 2; i++) answers.push((await zone.ask({}, at, port)).status);
      expect(answers).toEqual([...Array<number>(COUNT).fill(200), 429, 429]);
      const { headers } = await zone.ask();
      expect(headers['x-causeway-limited-by']).toBe(`${SHOP}/web`);
      await zone.removePolicies();
      await until('answers without a limit', async () => (await zone.ask({}, at, port)).status === 200);
    });

    it('as many connections as it says pass at an instance of bytes', async () => {
      const { at, port } = await proxied('tcp');
      const answers = async (): Promise<readonly boolean[]> => {
        const found: boolean[] = [];
        for (let i = 0; i < 4; i++) found.push((await say(at, port, 'GET / HTTP/1.1\r\nhost: a\r\n\r\n')) !== '');
        return found;
      };
      expect(await answers()).toEqual([true, true, true, true]);
      await zone.policy('RateLimitPolicy', { connections: { count: 2, per: '24h' } });
      expect(await answers()).toEqual([true, true, false, false]);
      await zone.removePolicies();
      await until('connections without a limit', async () => (await answers()).every(Boolean));
    });
  });
});
