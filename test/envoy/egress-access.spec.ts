import { setTimeout as pause } from 'node:timers/promises';
import type { JsonObject, Resource } from '@causeway/resources';
import { loopbackBlock } from '../support/loopback-networks';
import { echo, holdTls, say, sayTls, type ServiceProcess } from '../support/mesh-processes';
import { TestAuthority, type TestCertificate } from '../support/test-authority';
import { PROXY_KINDS, TrafficPlane, LOOPBACK_HOSTS } from '../support/traffic-plane';
import { shippedKinds, sketch } from '../support/traffic-zone';
import { until } from '../support/until';

const host = loopbackBlock();
const EGRESS_ID = 'spiffe://default.west.mesh.local/zone-egress';
const OTHER_DOMAIN = 'default.east.mesh.local';
/** Changes of a policy under load, and the time between two calls of one caller, ms: without it calls take the processor that changes need. */
const ROUNDS = 10;
const CALL_INTERVAL = 5;
const CALLERS = ['client', 'other', 'dev', 'stranger', 'east'];
const from = (...callers: readonly JsonObject[]): JsonObject => ({ allow: { some: { from: [...callers] } } });

/** Two services outside the mesh, an egress before them, and callers of two namespaces, of another zone, and one without an identity. */
describe.each(PROXY_KINDS)('AccessPolicy on what leaves through the egress, by %s,', (kind) => {
  const block = kind === 'envoy' ? 10 : 40;
  const AT = { address: host(100 + block), port: 10002 };
  const services = ['api', 'redis', 'late'];
  const vipOf = (name: string): string => host(block + services.indexOf(name));
  const certificates = new Map<string, TestCertificate>();
  const processes = new Map<string, ServiceProcess>();
  let west: TrafficPlane;
  let order = 0;

  const external = (name: string): Resource => {
    const endpoints = [{ address: '127.0.0.1', port: processes.get(name)?.port ?? 1 }];
    const spec = { match: { port: 443, protocol: 'tcp' }, endpoints };
    return sketch('MeshExternalService', name, spec, { zone: '', status: { vip: { ip: vipOf(name) } } });
  };
  const settings = (spec: JsonObject): Resource => sketch('MeshParameters', 'p', spec);
  const policy = (target: string, spec: JsonObject): Resource => {
    order += 1;
    const ref = target === 'mesh' ? { kind: 'Mesh', name: 'default' } : { kind: 'MeshExternalService', name: target };
    const made = sketch('AccessPolicy', target, { targetRefs: [ref], ...spec }, { zone: '', creationOrder: order });
    return { ...made, generation: order };
  };
  const settled = async (): Promise<void> => {
    await until('the egress has all', () => west.isSettled('egress'));
  };
  const put = async (...resources: readonly Resource[]): Promise<void> => {
    west.state.put(...resources);
    await settled();
  };
  const remove = async (...resources: readonly Resource[]): Promise<void> => {
    west.state.delete(...resources);
    await settled();
  };
  const optionsOf = (as: string, service: string) => {
    const destination = [...west.source.model.destinations()].find((one) => one.service.name === service);
    const certificate = certificates.get(as);
    const servername = destination?.egress?.serverName ?? 'none';
    return { host: AT.address, port: AT.port, servername, cert: certificate?.chain, key: certificate?.key };
  };
  /** Returns the callers that get an answer of a service through the egress. */
  const callersOf = async (service: string): Promise<readonly string[]> => {
    const answers = await Promise.all(CALLERS.map((as) => sayTls(optionsOf(as, service))));
    return CALLERS.filter((_, i) => answers[i] === `${service}:hello`);
  };

  beforeAll(async () => {
    west = await TrafficPlane.start('west', LOOPBACK_HOSTS);
    const east = await TestAuthority.create('east');
    for (const name of services) processes.set(name, await echo(name));
    for (const name of ['client', 'other', 'dev', 'stranger'])
      certificates.set(name, await west.authority.issue({ uri: west.spiffeId(name) }));
    certificates.set('east', await east.issue({ uri: `spiffe://${OTHER_DOMAIN}/workload/client` }));
    const parametersRef = { group: 'causeway.io', kind: 'MeshParameters', name: 'p' };
    const identity = { selector: { dataplane: { matchLabels: {} } }, provider: { type: 'Bundled', bundled: {} } };
    const trusted = [{ type: 'Pem', pem: { value: east.certificate } }];
    const dataplane = (name: string, namespace: string): Resource =>
      sketch('Dataplane', name, { networking: { address: '127.0.0.9' } }, { namespace });
    west.state.put(
      ...shippedKinds(),
      sketch('Mesh', 'default', { parametersRef }),
      settings({ defaultAccess: 'Deny' }),
      ...['shop', 'dev', 'default'].map((namespace) => sketch('Namespace', namespace, {})),
      west.trust(''),
      sketch('MeshIdentity', 'identity', identity, { zone: '' }),
      sketch('MeshTrust', 'east', { trustDomain: OTHER_DOMAIN, caBundles: trusted }, { zone: '' }),
      dataplane('client', 'shop'),
      dataplane('other', 'shop'),
      dataplane('dev', 'dev'),
      sketch('ZoneEgress', 'egress', { networking: { ...AT } }, { zone: 'west' }),
      external('api'),
      external('redis'),
    );
    const own = await west.authority.issue({ uri: EGRESS_ID });
    const certificate = { chain: own.chain, key: { pem: own.key } };
    await west.proxy(kind, 'egress', {
      mesh: '',
      listed: new Set<string>(),
      egress: { at: AT, identity: (of) => (of === 'default' ? certificate : undefined) },
    });
    await west.proxy(kind, 'client', { mesh: 'default', listed: 'all', capture: { type: 'bind' } }, 'client');
    await settled();
  });
  afterAll(async () => {
    await west.stop();
    await Promise.all([...processes.values()].map((one) => one.stop()));
  });
  afterEach(() => expect(west.problems()).toEqual([]));

  it('where the default is Deny and no policy says who may, nobody may', async () => {
    expect([await callersOf('api'), await callersOf('redis')]).toEqual([[], []]);
  });

  it.each<[string, JsonObject, readonly string[]]>([
    ['of a namespace', from({ namespace: 'shop' }), ['client', 'other']],
    ['of a zone', from({ zone: 'east' }), ['east']],
    [
      'by its id',
      from({ spiffeId: { type: 'Exact', value: 'spiffe://default.west.mesh.local/workload/dev' } }),
      ['dev'],
    ],
    ['anybody with an identity', { allow: { all: {} } }, CALLERS],
    [
      'all that are surely not of a namespace',
      { allow: { all: {} }, deny: { dev: { from: [{ namespace: 'dev' }] } } },
      ['client', 'other'],
    ],
    [
      'as far as the egress sees it: a rule about requests allows nobody',
      { allow: { some: { from: [{ namespace: 'shop' }] }, gets: { to: [{ methods: ['GET'] }] } } },
      ['client', 'other'],
    ],
    ['and denies whole connections', { allow: { all: {} }, deny: { gets: { to: [{ methods: ['GET'] }] } } }, []],
  ])('may call: %s', async (_, spec, allowed) => {
    const made = policy('api', spec);
    await put(made);
    expect([await callersOf('api'), await callersOf('redis')]).toEqual([allowed, []]);
    await remove(made);
    expect(await callersOf('api')).toEqual([]);
  });

  it('a policy of the mesh holds for all of them, that of a service before it', async () => {
    const [general, own] = [policy('mesh', from({ namespace: 'shop' })), policy('api', from({ namespace: 'dev' }))];
    await put(general, own);
    expect([await callersOf('api'), await callersOf('redis')]).toEqual([['dev'], ['client', 'other']]);
    // The whole way: the address of the service, the client's proxy, the egress.
    await until('the client is settled', () => west.isSettled('client'));
    await until('an answer', async () => (await say(vipOf('redis'), 443)) === 'redis:hello');
    expect(await say(vipOf('api'), 443)).toBe('');
    await remove(general, own);
  });

  it('what narrows ends the connections of that service, and leaves those of others alone', async () => {
    await put(policy('api', from({ namespace: 'shop' })), policy('redis', from({ namespace: 'shop' })));
    const hold = async (service: string) => {
      const socket = await holdTls('127.0.0.1', optionsOf('other', service));
      if (!socket) throw new Error(`${service} is not reached`);
      const state = { isOpen: true, socket };
      socket.on('close', () => (state.isOpen = false)).resume();
      return state;
    };
    const [api, redis] = [await hold('api'), await hold('redis')];
    await put(policy('api', from({ spiffeId: { type: 'Exact', value: west.spiffeId('client') } })));
    await until('the end', () => !api.isOpen);
    expect([await callersOf('api'), await callersOf('redis')]).toEqual([['client'], ['client', 'other']]);
    expect(redis.isOpen).toBe(true);
    for (const { socket } of [api, redis]) socket.destroy();
    await remove(policy('api', {}), policy('redis', {}));
  });

  it('the first policy of a service ends the connections that it does not allow', async () => {
    await put(settings({}));
    const socket = await holdTls('127.0.0.1', optionsOf('dev', 'api'));
    const closed = new Promise((resolve) => socket?.on('close', resolve).resume());
    await put(policy('api', from({ namespace: 'shop' })));
    await closed;
    socket?.destroy();
    expect([await callersOf('api'), await callersOf('redis')]).toEqual([['client', 'other'], CALLERS]);
    await remove(policy('api', {}));
    await put(settings({ defaultAccess: 'Deny' }));
  });

  it('a service is not open before its policy where both come together, nor while policies change under load', async () => {
    // Under Allow: access that is open without a policy must not be open while a policy is on its way.
    await put(settings({}));
    const single = from({ spiffeId: { type: 'Exact', value: west.spiffeId('client') } });
    await put(policy('late', single), external('late'));
    const { servername } = optionsOf('dev', 'late');
    await remove(policy('late', {}), external('late'));
    const never: string[] = [];
    let calls = 0;
    let isOver = false;
    const load = ['dev', 'stranger', 'east'].map(async (as) => {
      while (!isOver) {
        if ((await sayTls({ ...optionsOf(as, 'redis'), servername })) !== '') never.push(as);
        calls += 1;
        await pause(CALL_INTERVAL);
      }
    });
    for (let n = 0; n < ROUNDS; n += 1) {
      west.state.change([external('late'), policy('late', n % 2 ? single : from({ namespace: 'shop' }))], []);
      await settled();
      expect(await sayTls({ ...optionsOf('client', 'redis'), servername })).toBe('late:hello');
      west.state.change([policy('mesh', single)], [policy('late', {})]);
      await settled();
      west.state.delete(external('late'));
      west.state.delete(policy('mesh', {}));
    }
    await until('calls were made', () => calls > 20);
    isOver = true;
    await Promise.all(load);
    expect(never).toEqual([]);
    await settled();
    expect(await callersOf('redis')).toEqual(CALLERS);
  });
});
