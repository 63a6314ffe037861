import type { RouteRule } from '@causeway/routing';
import type { JsonObject, Resource } from '@causeway/resources';
import { ENVOY } from '../support/envoy-process';
import { drawnFairly } from '../support/fair-draw';
import { PORTS, RoutedPlane, type Routed } from '../support/routed-plane';
import type { Asked } from '../support/routing-mesh';
import { until } from '../support/until';

const { http } = PORTS;
const ECHO = [{ kind: 'Service', name: 'echo', port: http }];
const HELD = { 'x-do': 'hold' };

const exact = (value: string) => ({ matches: [{ path: { type: 'Exact', value } }] });
const to = (version: number): RouteRule => ({ backendRefs: [{ name: `echo-v${version}`, port: http }] });
const on = (kind: string, name: string, more: JsonObject = {}): JsonObject => ({
  targetRefs: [{ ...(kind.endsWith('Route') && { group: 'gateway.networking.k8s.io' }), kind, name, ...more }],
});
const onEcho = on('MeshService', 'echo');

(ENVOY === undefined ? describe.skip : describe)('policies on requests as a real Envoy obeys them', () => {
  let routed: RoutedPlane;
  let ids = 0;

  beforeAll(async () => {
    routed = await RoutedPlane.start();
    await routed.mesh();
  });
  afterAll(() => routed.stop());
  afterEach(async () => {
    expect(routed.plane.problems()).toEqual([]);
    routed.answers.release();
    await routed.clear();
  });

  const ask = async (asked: Asked = {}): Promise<Routed> => routed.ask(asked);
  const statusOf = async (asked?: Asked): Promise<number> => (await ask(asked)).status;
  const echo = (rules: readonly RouteRule[], namespace = 'mesh') =>
    routed.route(
      'HTTPRoute',
      'route',
      { parentRefs: ECHO.map((ref) => ({ ...ref, namespace: 'mesh' })), rules },
      namespace,
    );

  /** The status of a request that processes do something with, and how often they got it. */
  async function tried(what: string, asked: Asked = {}): Promise<readonly [status: number, attempts: number]> {
    const id = `tried-${(ids += 1)}`;
    const status = await statusOf({ ...asked, headers: { ...asked.headers, 'x-do': what, 'x-id': id } });
    return [status, routed.answers.attemptsOf(id)];
  }

  /** A request that is held: whether it was answered, and its answer. */
  function held(asked: Asked = {}) {
    const found = { isAnswered: false, answer: ask({ ...asked, headers: { ...asked.headers, ...HELD } }) };
    void found.answer.then(() => (found.isAnswered = true));
    return found;
  }

  describe('TimeoutPolicy', () => {
    it('ends a request that nobody answers, until it goes', async () => {
      const policy = await routed.policy('TimeoutPolicy', 'short', { ...onEcho, request: '100ms' });
      expect(await statusOf({ headers: HELD })).toBe(504);
      await routed.remove(policy);
      const longer = held();
      await until('the request waits', () => routed.answers.waiting === 1);
      routed.answers.release();
      expect((await longer.answer).status).toBe(200);
    });

    it.each(['backendRequest', 'idle'])('ends one by %s', async (field) => {
      await routed.policy('TimeoutPolicy', 'short', { ...onEcho, [field]: '100ms' });
      expect(await tried('hold')).toEqual([504, 1]);
    });

    it('leaves a rule that has a time-out of its own', async () => {
      await echo([{ ...exact('/own'), timeouts: { request: '0s' }, ...to(1) }, to(2)]);
      await routed.policy('TimeoutPolicy', 'short', { ...on('HTTPRoute', 'route'), request: '100ms' });
      const own = held({ url: '/own' });
      expect(await statusOf({ headers: HELD })).toBe(504);
      expect(own.isAnswered).toBe(false);
      routed.answers.release();
      expect((await own.answer).status).toBe(200);
    });

    it('on a rule by its name, and on one by its place, is for that rule only', async () => {
      await echo([
        { name: 'slow', ...exact('/slow'), ...to(1) },
        { name: 'fast', ...exact('/fast'), ...to(1) },
      ]);
      await routed.policy('TimeoutPolicy', 'short', {
        ...on('HTTPRoute', 'route', { sectionName: 'fast' }),
        request: '100ms',
      });
      const slow = held({ url: '/slow' });
      expect(await statusOf({ url: '/fast', headers: HELD })).toBe(504);
      expect(slow.isAnswered).toBe(false);
      routed.answers.release();
      await slow.answer;
    });
  });

  describe('RetryPolicy', () => {
    it('repeats what a server answered, so often, and nothing without it', async () => {
      expect(await tried('503 2')).toEqual([503, 1]);
      const backoff = { base: '1ms' };
      await routed.policy('RetryPolicy', 'again', { ...onEcho, attempts: 2, on: ['5xx'], backoff });
      expect([await tried('503 2'), await tried('503 3'), await tried('409 1')]).toEqual([
        [200, 3],
        [503, 3],
        [409, 1],
      ]);
      await routed.policy('RetryPolicy', 'again', { ...onEcho, attempts: 1, statuses: [409], backoff });
      expect([await tried('503 1'), await tried('409 1')]).toEqual([
        [503, 1],
        [200, 2],
      ]);
    });

    it('repeats an attempt that takes too long, and gives up when all do', async () => {
      const spec = { attempts: 2, perTryTimeout: '150ms', on: ['gateway-error'], backoff: { base: '1ms' } };
      await routed.policy('RetryPolicy', 'again', { ...onEcho, ...spec });
      expect([await tried('hold 1'), await tried('hold')]).toEqual([
        [200, 2],
        [504, 3],
      ]);
    });

    it('ends with the request', async () => {
      await routed.policy('RetryPolicy', 'again', { ...onEcho, attempts: 10, on: ['5xx'], perTryTimeout: '5s' });
      await routed.policy('TimeoutPolicy', 'short', { ...onEcho, request: '100ms' });
      expect(await tried('hold')).toEqual([504, 1]);
    });
  });

  describe('FaultPolicy', () => {
    const abort = (percent: number) => ({ ...onEcho, abort: { status: 418, percent } });

    it('refuses all, or none, and what it refuses reaches nobody', async () => {
      await routed.policy('FaultPolicy', 'faults', abort(100));
      expect(await tried('')).toEqual([418, 0]);
      await routed.policy('FaultPolicy', 'faults', abort(0));
      expect(await tried('')).toEqual([200, 1]);
    });

    it('refuses a fair share', async () => {
      await routed.policy('FaultPolicy', 'faults', abort(30));
      const draw = () => Promise.all(Array.from({ length: 400 }, async () => String(await statusOf())));
      expect(await drawnFairly(draw, { 200: 70, 418: 30 })).toEqual([]);
    });

    it('delays before anything is sent, and the delay is no time of the request', async () => {
      await routed.policy('FaultPolicy', 'faults', { ...onEcho, delay: { duration: '300ms', percent: 100 } });
      await routed.policy('TimeoutPolicy', 'short', { ...onEcho, request: '200ms' });
      const begun = performance.now();
      const answered = tried('');
      expect(routed.answers.attemptsOf(`tried-${ids}`)).toBe(0);
      expect(await answered).toEqual([200, 1]);
      expect(performance.now() - begun).toBeGreaterThan(290);
    });
  });

  describe('HeaderPolicy', () => {
    it('changes headers of requests and answers; filters of the rule come after it', async () => {
      const change = (value: string) => ({
        set: { 'x-set': value },
        add: { 'x-add': value },
        remove: { 'x-gone': true },
      });
      const headers = { 'x-set': 'sent', 'x-add': 'sent', 'x-gone': 'sent' };
      const policy = { ...onEcho, request: change('100%'), response: { set: { 'x-original': 'other' } } };
      await routed.policy('HeaderPolicy', 'headers', policy);
      const first = await ask({ headers });
      expect([first.headers['x-set'], first.headers['x-gone']]).toEqual(['100%', undefined]);
      expect(first.headers['x-add']).toMatch(/^sent, ?100%$/);
      expect(first.answer['x-original']).toBe('other');

      const filters = [
        { type: 'RequestHeaderModifier', requestHeaderModifier: { set: [{ name: 'X-Set', value: 'rule' }] } },
        { type: 'ResponseHeaderModifier', responseHeaderModifier: { remove: ['X-Original'] } },
      ];
      for (const rule of [{ filters, ...to(1) }, { backendRefs: [{ name: 'echo-v1', port: http, filters }] }]) {
        await echo([rule]);
        const { headers: got, answer } = await ask({ headers });
        expect([got['x-set'], got['x-gone'], answer['x-original']]).toEqual(['rule', undefined, undefined]);
      }
    });
  });

  const setting = (value: string) => ({ response: { set: { 'x-policy': value } } });
  const told = async (asked: Asked = {}): Promise<unknown> => (await ask(asked)).answer['x-policy'];

  it('of a mesh hold for all services, those of what is nearer in place of them, or field by field (T004-16, T004-19, T004-27)', async () => {
    const all = await routed.policy('HeaderPolicy', 'all', { ...on('Mesh', 'default'), ...setting('mesh') });
    expect([await told(), await told({ to: 'echo-v1' })]).toEqual(['mesh', 'mesh']);
    await routed.policy('HeaderPolicy', 'space', { ...on('Namespace', 'mesh'), ...setting('namespace') });
    await routed.policy('HeaderPolicy', 'own', { ...onEcho, ...setting('service') });
    expect([await told(), await told({ to: 'echo-v1' })]).toEqual(['service', 'namespace']);
    await routed.remove(all);
    const overrides = { strategy: 'patch', ...setting('mesh'), request: { set: { 'x-mesh': 'yes' } } };
    await routed.policy('HeaderPolicy', 'all', { ...on('Mesh', 'default'), overrides });
    const { headers, answer } = await ask();
    expect([answer['x-policy'], headers['x-mesh']]).toEqual(['mesh', 'yes']);
  });

  it('of a consumer are for its own clients, on its own route and on the service of another namespace (T004-09)', async () => {
    const both = async () => [await told({ from: 'consumer' }), await told({ from: 'mesh' })];
    await routed.policy('HeaderPolicy', 'own', { ...on('MeshService', 'echo'), ...setting('producer') });
    expect(await both()).toEqual(['producer', 'producer']);
    const foreign = { ...on('MeshService', 'echo', { namespace: 'mesh' }), ...setting('consumer') };
    const consumers = await routed.policy('HeaderPolicy', 'theirs', foreign, 'consumer');
    expect(await both()).toEqual(['consumer', 'producer']);
    await routed.remove(consumers);
    expect(await both()).toEqual(['producer', 'producer']);
    await echo([{ backendRefs: [{ namespace: 'mesh', name: 'echo-v1', port: http }] }], 'consumer');
    await routed.policy('HeaderPolicy', 'theirs', { ...on('HTTPRoute', 'route'), ...setting('route') }, 'consumer');
    expect(await both()).toEqual(['route', 'producer']);
  });

  it('hold where a port carries requests: a route makes it one', async () => {
    const connection = { port: PORTS.tcp, headers: { connection: 'close' } };
    await routed.policy('HeaderPolicy', 'own', { ...onEcho, ...setting('service') });
    expect([await told(), await told(connection)]).toEqual(['service', undefined]);
    const parentRefs = [{ kind: 'Service', name: 'echo', port: PORTS.tcp }];
    await routed.route('HTTPRoute', 'route', { parentRefs, rules: [to(1)] });
    expect(await told(connection)).toBe('service');
  });

  it('come, change and go while requests are sent: none fails, and only routes are told', async () => {
    const responses = () =>
      routed.plane.server
        .proxies()
        .flatMap(({ id, types }) => types.map(({ type, responses: { sent } }) => `${id} ${type} ${sent}`));
    const before = responses();
    const seen: number[] = [];
    let isDone = false;
    const load = Promise.all(
      Array.from({ length: 4 }, async () => {
        while (!isDone) seen.push(await statusOf());
      }),
    );
    try {
      for (let round = 0; round < 5; round += 1) {
        const policies: Resource[] = [];
        for (const [kind, spec] of Object.entries({
          TimeoutPolicy: { request: `${10 + round}s`, idle: '20s' },
          RetryPolicy: { attempts: 1 + round, on: ['5xx'] },
          FaultPolicy: { abort: { status: 500, percent: 0 } },
          HeaderPolicy: setting(`round ${round}`),
        }))
          policies.push(await routed.policy(kind, 'own', { ...onEcho, ...spec }));
        // Envoy acks a response before all of its threads have applied it.
        await until('the policies hold', async () => (await told()) === `round ${round}`);
        for (const policy of policies) await routed.remove(policy);
        await until('the policies are gone', async () => (await told()) === undefined);
      }
    } finally {
      isDone = true;
    }
    await load;
    expect(seen.length).toBeGreaterThan(0);
    expect(seen.filter((status) => status !== 200)).toEqual([]);
    const changed = responses().filter((each) => !before.includes(each));
    expect(changed.filter((each) => !each.includes('RouteConfiguration'))).toEqual([]);
    expect(changed.length).toBeGreaterThan(0);
  });
});
