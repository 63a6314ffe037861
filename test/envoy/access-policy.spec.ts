import { setTimeout as pause } from 'node:timers/promises';
import type { JsonObject } from '@causeway/resources';
import { AccessMesh, TCP_PORT } from '../support/access-mesh';
import { loopbackBlock } from '../support/loopback-networks';
import { say } from '../support/mesh-processes';
import { PROXY_KINDS } from '../support/traffic-plane';
import { until } from '../support/until';

const host = loopbackBlock();
const from = (...callers: readonly JsonObject[]): JsonObject => ({ allow: { some: { from: [...callers] } } });
const SHOP = from({ namespace: 'shop' });
/** Rounds of four changes under load, and the time between two calls of one caller, ms: without it calls take the processor that changes need. */
const ROUNDS = 10;
const CALL_INTERVAL = 5;
const CALLERS = ['client', 'other', 'dev', 'stranger', 'west', 'none'];

describe.each(PROXY_KINDS)('AccessPolicy, by %s,', (kind) => {
  let mesh: AccessMesh;

  beforeAll(async () => {
    mesh = await AccessMesh.start(kind, host(kind === 'envoy' ? 61 : 62));
  });
  afterAll(() => mesh.stop());
  afterEach(() => expect(mesh.plane.problems()).toEqual([]));

  /** Returns the callers that get an answer of redis, and the status with which web answers each: 200, 403, or none. */
  async function outcome() {
    const callers: string[] = [];
    const statuses: Record<string, number | undefined> = {};
    for (const each of CALLERS) {
      if ((await mesh.answer(each)) === 'redis:hello') callers.push(each);
      statuses[each] = await mesh.ask(each);
    }
    const asked = CALLERS.filter((each) => statuses[each] === 200);
    // `_explain` agrees with the traffic.
    expect(CALLERS.filter((each) => mesh.isSaidToGetIn(each, 'redis'))).toEqual(callers);
    expect(CALLERS.filter((each) => mesh.isSaidToGetIn(each, 'web'))).toEqual(asked);
    // The handshake refuses callers without an identity.
    const refused = CALLERS.filter((each) => statuses[each] === 403);
    return { callers, asked, refused };
  }
  const refusedOf = (allowed: readonly string[]): readonly string[] =>
    kind === 'envoy' ? CALLERS.filter((each) => each !== 'none' && !allowed.includes(each)) : [];

  it('where the default is Deny and no policy says who may, nobody may', async () => {
    expect(await outcome()).toEqual({ callers: [], asked: [], refused: [] });
  });

  it.each<[string, JsonObject, readonly string[]]>([
    ['of a namespace', SHOP, ['client', 'other']],
    ['of a zone', from({ zone: 'west' }), ['west']],
    [
      'by its id',
      from({ spiffeId: { type: 'Exact', value: 'spiffe://default.east.mesh.local/workload/stranger' } }),
      ['stranger'],
    ],
    [
      'by the beginning of an id',
      from({ spiffeId: { type: 'Prefix', value: 'spiffe://default.west.mesh.local/workload/' } }),
      ['west'],
    ],
    ['anybody with an identity', { allow: { all: {} } }, ['client', 'other', 'dev', 'stranger', 'west']],
    [
      'all but one',
      {
        allow: { all: {} },
        deny: {
          one: { from: [{ spiffeId: { type: 'Exact', value: 'spiffe://default.east.mesh.local/workload/dev' } }] },
        },
      },
      ['client', 'other', 'stranger', 'west'],
    ],
    [
      'all that are surely not of a namespace',
      { allow: { all: {} }, deny: { dev: { from: [{ namespace: 'dev' }] } } },
      ['client', 'other'],
    ],
  ])('may call: %s', async (_, spec, allowed) => {
    const policy = mesh.policy('shop', spec);
    await mesh.put(policy);
    expect(await outcome()).toEqual({ callers: allowed, asked: allowed, refused: refusedOf(allowed) });
    await mesh.delete(policy);
    expect(await outcome()).toEqual({ callers: [], asked: [], refused: [] });
  });

  it('of requests by method and path; a proxy that sees connections only refuses what it cannot judge', async () => {
    const policy = mesh.policy('web', {
      allow: {
        reads: {
          from: [{ namespace: 'shop' }],
          to: [{ methods: ['GET'], paths: [{ type: 'PathPrefix', value: '/api' }] }],
        },
      },
      deny: { secret: { to: [{ paths: [{ type: 'PathPrefix', value: '/api/secret' }] }] } },
    });
    await mesh.put(policy);
    const asked: readonly (readonly [string, string, string])[] = [
      ['client', '/api/x?q=1', 'GET'],
      ['client', '/api/secret', 'GET'],
      ['client', '/api//secret', 'GET'],
      ['client', '/api/%73ecret', 'GET'],
      ['client', '/api/x/../secret/y', 'GET'],
      ['client', '/apis', 'GET'],
      ['client', '/api/x', 'POST'],
      ['dev', '/api/x', 'GET'],
    ];
    const statuses = [];
    for (const [as, path, method] of asked) statuses.push(await mesh.ask(as, { path, method }));
    const want = [200, ...asked.slice(1).map(() => 403)];
    expect(statuses).toEqual(kind === 'envoy' ? want : asked.map(() => undefined));
    const said = asked.map(([as, path, method]) => mesh.isSaidToGetIn(as, 'web', { path, method }));
    expect(said).toEqual(statuses.map((status) => status === 200));
    await mesh.delete(policy);
  });

  it('a path that is no UTF-8, or overlong, is refused wherever rules name paths: no spelling passes a deny', async () => {
    const paths = [{ type: 'PathPrefix', value: '/api/secret' }];
    const policy = mesh.policy('web', { allow: { all: {} }, deny: { secret: { to: [{ paths }] } } });
    await mesh.put(policy);
    const fine = ['/api/x', '/api/%C3%A9', '/api/%e2%82%ac%20x', '/api/%f0%9f%98%80?q=%c0%af'];
    const bad = [
      '/api%c0%afsecret',
      '/api/%c1%b3ecret',
      '/api/%e0%81%b3ecret',
      '/api/%f0%80%81%b3ecret',
      '/api/secret%c0%af',
      '/api/%f8%80%80%80%afsecret',
      '/api/%c3secret',
      '/api/%e2%82secret',
      '/api/%80secret',
      '/api/%ed%a0%80',
      '/api/%C0%AE%C0%AE/api/secret',
      '/api/%ffsecret',
      '/%C0%AFapi/secret',
      '/api/%u0073ecret',
      '/api/%',
    ];
    const found: Record<string, number | undefined> = {};
    for (const path of [...fine, ...bad]) found[path] = await mesh.ask('client', { path });
    const want = (path: string): readonly (number | undefined)[] =>
      kind === 'envoy' ? (fine.includes(path) ? [200] : [400, 403]) : [undefined];
    expect(Object.entries(found).filter(([path, status]) => !want(path).includes(status))).toEqual([]);
    const said = [...fine, ...bad].filter((path) => mesh.isSaidToGetIn('client', 'web', { path, method: 'GET' }));
    expect(said).toEqual(kind === 'envoy' ? fine : []);
    await mesh.delete(policy);
  });

  it('what narrows closes the connections of those that may no longer, and lets others come again', async () => {
    const policy = mesh.policy('redis', SHOP);
    await mesh.put(policy);
    const open = await mesh.say('other');
    expect(open.answer).toBe('redis:hello');
    await mesh.put(mesh.policy('redis', from({ spiffeId: { type: 'Exact', value: mesh.plane.spiffeId('client') } })));
    await open.closed;
    expect([await mesh.answer('other'), await mesh.answer('client')]).toEqual(['', 'redis:hello']);
    await mesh.delete(policy);
  });

  it('an id that Dataplanes of two namespaces carry is of neither: not allowed as one, denied as the other', async () => {
    const policy = mesh.policy('redis', SHOP);
    await mesh.put(policy);
    expect(await mesh.answer('client')).toBe('redis:hello');
    const twin = mesh.dataplaneOf('client', 'dev');
    await mesh.put(twin);
    expect(await mesh.answer('client')).toBe('');
    await mesh.delete(twin);
    expect(await mesh.answer('client')).toBe('redis:hello');
    await mesh.delete(policy);
  });

  it('a policy of the service comes before that of its namespace, and goes to it in one batch or in two writes: nobody else gets in', async () => {
    const [own, general] = [mesh.policy('redis', SHOP), mesh.policy('shop', SHOP)];
    await mesh.put(own);
    expect(await mesh.answer('client')).toBe('redis:hello');
    mesh.plane.state.change([general], [own]);
    await mesh.settled();
    expect([await mesh.answer('client'), await mesh.answer('dev')]).toEqual(['redis:hello', '']);
    await mesh.delete(general);
    expect([await mesh.answer('client'), await mesh.answer('dev')]).toEqual(['', '']);
  });

  it('with Permissive, who has no identity may call only where a rule without `from` allows it', async () => {
    const plaintext = () => say(mesh.host, TCP_PORT);
    const policy = mesh.policy('redis', SHOP);
    await mesh.put(policy, mesh.settings({ mtls: 'Permissive' }));
    expect(await plaintext()).not.toContain('redis');
    await mesh.put(mesh.policy('redis', { allow: { all: {} } }));
    await until('plaintext is taken', async () => (await plaintext()) === 'redis:hello');
    await mesh.put(mesh.policy('redis', { allow: { all: {} }, deny: { dev: { from: [{ zone: 'west' }] } } }));
    // Closed, or refused by an alert of TLS.
    expect(await plaintext()).not.toContain('redis');
    await mesh.delete(policy);
    await mesh.put(mesh.settings({ defaultAccess: 'Deny' }));
    expect(await plaintext()).not.toContain('redis');
  });

  it('a service is not open before its policy, whichever comes first, nor to a proxy that starts', async () => {
    // Under Allow: access that is open without a policy must not be open while a policy is on its way.
    const [policy, service] = [mesh.policy('redis', SHOP), mesh.service('redis', TCP_PORT, 'tcp')];
    await mesh.delete(service);
    await mesh.put(policy, mesh.settings({}));
    expect([await mesh.answer('client'), await mesh.answer('dev')]).toEqual(['', '']);
    await mesh.put(service);
    expect([await mesh.answer('client'), await mesh.answer('dev')]).toEqual(['redis:hello', '']);
    await mesh.delete(policy);
    await mesh.put(mesh.settings({ defaultAccess: 'Deny' }));
  });

  it('40 changes while callers go on: who may never call never gets an answer', async () => {
    const never: string[] = [];
    let calls = 0;
    let isOver = false;
    const load = ['dev', 'stranger', 'west'].map(async (as) => {
      while (!isOver) {
        if ((await mesh.answer(as)) !== '') never.push(as);
        if ((await mesh.ask(as, { isKept: true })) === 200) never.push(as);
        calls += 2;
        await pause(CALL_INTERVAL);
      }
    });
    const single = from({ spiffeId: { type: 'Exact', value: mesh.plane.spiffeId('client') } });
    for (let n = 0; n < ROUNDS; n += 1) {
      const [own, general] = [mesh.policy('redis', n % 2 ? SHOP : single), mesh.policy('shop', SHOP)];
      mesh.plane.state.put(own);
      await mesh.settled();
      mesh.plane.state.change([general], [own]);
      await mesh.settled();
      mesh.plane.state.delete(general);
      mesh.plane.state.put(own);
      await mesh.settled();
      mesh.plane.state.delete(own);
    }
    await until('calls were made', () => calls > 20);
    isOver = true;
    await Promise.all(load);
    expect(never).toEqual([]);
  });
});
