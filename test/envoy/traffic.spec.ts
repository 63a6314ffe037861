/**
 * A proxy gets the resources that it uses; costs by `bench/xds.ts` and `bench/envoy-scope.ts`. Also:
 * libs/xds-translation/src/dataplane/reachable-backends.spec.ts.
 */
import { freePort } from '../../scripts/lib/ports.mjs';
import type { JsonObject, Labels, Resource } from '@causeway/resources';
import { ENVOY, type EnvoyProcess } from '../support/envoy-process';
import { loopbackBlock } from '../support/loopback-networks';
import { ask, echo, httpService, say, sayTls, type ServiceProcess } from '../support/mesh-processes';
import { TestAuthority, type TestCertificate } from '../support/test-authority';
import { putAll, TrafficPlane } from '../support/traffic-plane';
import { sketch } from '../support/traffic-zone';
import { until } from '../support/until';

const host = loopbackBlock();
const INGRESS = { address: host(100), port: 10001 };
const SERVER = host(101);
const REDIS = { vip: host(7), port: 6379 };
const WEB = { vip: host(8), port: 8080 };
const REDIS_KRI = 'kri_msvc_default_east__redis_6379';
const REDIS_SNI = 'sni.msvc.default.east.redis.6379';
const REDIS_HASH = 'a25502fde077cd057.redis.6379.default.ms';
const EAST = { zone: 'east' };
const identities = [{ type: 'SpiffeID', value: 'spiffe://default.east.mesh.local/workload/server' }];

function service(name: string, at: { vip: string; port: number }, protocol: string, spec: JsonObject = {}): Resource {
  const selector = { dataplaneTags: { app: name } };
  const ports = [{ port: at.port, targetPort: name, appProtocol: protocol }];
  return sketch(
    'MeshService',
    name,
    { selector, ports, identities, ...spec },
    { ...EAST, status: { vip: { ip: at.vip } } },
  );
}

(ENVOY === undefined ? describe.skip : describe)('from west to a process in east, by real Envoys,', () => {
  let [west, east]: readonly TrafficPlane[] = [];
  let [client, ingress, server, redirected]: readonly EnvoyProcess[] = [];
  const processes: ServiceProcess[] = [];
  let any = 0;
  const redisAny = (): { vip: string; port: number } => ({ vip: host(17), port: any });
  const webAny = (): { vip: string; port: number } => ({ vip: host(18), port: any });
  const redis = service('redis', REDIS, 'tcp');
  const web = service('web', WEB, 'http');
  const meshAddress = sketch('MeshZoneAddress', 'in', { ...INGRESS }, EAST);
  const zoneIngress = sketch('ZoneIngress', 'in', { networking: { ...INGRESS } }, EAST);

  /** The Dataplane whose connections are redirected: of a VirtualNode with these backends, or of none. */
  function bound(backends?: readonly string[]): Resource {
    const found = backends?.map((name) => ({ namespace: 'default', name }));
    const status = found ? { virtualNode: { namespace: 'default', name: 'n', backends: found } } : {};
    return sketch('Dataplane', 'redirected', { networking: { address: host(30) } }, { status });
  }

  /** Puts the processes and their Dataplane, with the services at these ports. */
  async function startServices(...ports: readonly number[]): Promise<Resource> {
    const [tcp, http] = await Promise.all([echo('redis'), httpService('web')]);
    processes.push(tcp, http);
    const inbound = ports.map((port, i) => ({
      port,
      servicePort: i % 2 === 0 ? tcp.port : http.port,
      protocol: i % 2 === 0 ? 'tcp' : 'http',
      name: ['redis', 'web', 'redis-any', 'web-any'][i] ?? '',
      tags: { app: ['redis', 'web', 'redis-any', 'web-any'][i] ?? '' },
    }));
    return east?.dataplane('server', { address: SERVER, inbound }) ?? redis;
  }

  const redisIs = (answer: string): Promise<boolean> =>
    until('redis', async () => (await say(REDIS.vip, REDIS.port)) === answer);

  beforeAll(async () => {
    const [a, b, port] = await Promise.all([TrafficPlane.start('west'), TrafficPlane.start('east'), freePort()]);
    [west, east] = [a, b];
    any = port;
    putAll([a, b], a.trust(''), b.trust(''), redis, web, meshAddress);
    a.state.put(bound());
    putAll([a, b], service('redis-any', redisAny(), 'tcp'), service('web-any', webAny(), 'http'));
    const dataplane = await startServices(REDIS.port, WEB.port, 1_001, 1_002);
    const view = { mesh: 'default', listed: new Set<string>() };
    const listed = new Set([REDIS_KRI, 'kri_msvc_default_east__web_8080']);
    // Without a rule of the kernel, an Envoy on all addresses gets the connections to any address at this port.
    const capture = {
      type: 'redirect',
      at: { address: '0.0.0.0', port },
      reentry: { address: host(1), port: 15011 },
    } as const;
    [client, redirected, ingress, server] = await Promise.all([
      a.envoy('client', { mesh: 'default', listed, capture: { type: 'bind' } }, 'client'),
      a.envoy('redirected', { mesh: 'default', listed: new Set(), capture, dataplane: bound().id }, 'client'),
      b.envoy('ingress', { ...view, ingress: INGRESS }),
      b.envoy('server', { ...view, dataplane: dataplane.id }, 'server'),
    ]);
    await redisIs('redis:hello');
  });
  afterAll(async () => {
    await Promise.all([west?.stop(), east?.stop()]);
    await Promise.all(processes.map((one) => one.stop()));
  });
  afterEach(() => expect([...(west?.problems() ?? []), ...(east?.problems() ?? [])]).toEqual([]));

  it('bytes and requests arrive, through an ingress that holds no key', async () => {
    expect(await say(REDIS.vip, REDIS.port, 'a')).toBe('redis:a');
    const answer = await ask(WEB.vip, WEB.port, '/x', { 'x-forwarded-client-cert': 'URI=spiffe://liar' });
    expect(answer).toMatchObject({ status: 200, name: 'web' });
    // The server's proxy reports the caller.
    const said = answer.headers['x-forwarded-client-cert'];
    expect(said).toMatch(
      /^By=[^,]*\/workload\/server;Hash=\w+;URI=spiffe:\/\/default.west.mesh.local\/workload\/client$/,
    );
    expect(await ingress?.stat(`cluster.in_${REDIS_SNI}.upstream_cx_total`)).toBeGreaterThan(0);
    expect(await ingress?.ask('/certs')).not.toContain('"days_until_expiration"');
  });

  it('explicit outbounds of a Dataplane lead there from ports of its own machine, without any capture', async () => {
    const [tcp, http] = [await freePort(), await freePort()];
    const toWeb = { port: http, backendRef: { kind: 'MeshService', name: 'web', port: WEB.port } };
    const networking = (...outbound: JsonObject[]): JsonObject => ({ address: host(20), outbound });
    const tagged = { port: tcp, tags: { 'kuma.io/service': 'redis' } };
    const { id } = (west as TrafficPlane).dataplane('explicit', networking(tagged, toWeb));
    await west?.envoy('explicit', { mesh: 'default', listed: new Set(), dataplane: id }, 'client');
    await until('redis', async () => (await say('127.0.0.1', tcp, 'e')) === 'redis:e');
    expect(await ask('127.0.0.1', http, '/e')).toMatchObject({ status: 200, name: 'web' });
    west?.dataplane('explicit', networking({ ...toWeb, port: tcp }));
    await until(
      'the other service',
      async () => (await ask('127.0.0.1', tcp, '/e').catch(() => undefined))?.name === 'web',
    );
    await until('a closed port', async () => (await say('127.0.0.1', http)) === '');
  });

  it('a zone with a ZoneIngress only is entered by names in the hash form', async () => {
    west?.state.put(zoneIngress);
    west?.state.delete(meshAddress);
    const before = (await ingress?.stat(`cluster.in_${REDIS_HASH}.upstream_cx_total`)) ?? 0;
    await until('the other name', async () => {
      expect(await say(REDIS.vip, REDIS.port)).toBe('redis:hello');
      return ((await ingress?.stat(`cluster.in_${REDIS_HASH}.upstream_cx_total`)) ?? 0) > before;
    });
    west?.state.put(meshAddress);
  });

  it('a server with another identity than the service’s is not believed', async () => {
    const value = 'spiffe://default.east.mesh.local/workload/other';
    west?.state.put(service('redis', REDIS, 'tcp', { identities: [{ type: 'SpiffeID', value }] }));
    await redisIs('');
    expect(await client?.stat(`cluster.${REDIS_KRI}.ssl.fail_verify_san`)).toBeGreaterThan(0);
    west?.state.put(redis);
    await redisIs('redis:hello');
  });

  it.each<[string, (strangers: TestAuthority) => Promise<Partial<TestCertificate>>, string]>([
    ['without a certificate', () => Promise.resolve({}), 'fail_verify_no_cert'],
    [
      'with a certificate of an unknown authority',
      (strangers) => strangers.issue({ uri: 'spiffe://default.west.mesh.local/workload/client' }),
      'fail_verify_error',
    ],
    [
      'with an id of east, signed by the authority of west',
      async () => (await west?.authority.issue({ uri: 'spiffe://default.east.mesh.local/workload/server' })) ?? {},
      'fail_verify_error',
    ],
  ])('a client %s is refused by the server, and counted', async (_, certificate, counter) => {
    const { chain, key } = await certificate(await TestAuthority.create('strangers'));
    const own = chain !== undefined && key !== undefined ? { cert: chain, key } : {};
    const stat = `listener.${SERVER}_${REDIS.port}.ssl.${counter}`;
    const before = (await server?.stat(stat)) ?? 0;
    expect(await sayTls({ host: INGRESS.address, port: INGRESS.port, servername: REDIS_SNI, ...own })).toBe('');
    await until('the count', async () => ((await server?.stat(stat)) ?? 0) > before);
  });

  it('plain text is refused by the server, and counted', async () => {
    expect(await say(SERVER, REDIS.port)).not.toContain('redis'); // an alert of TLS at most
    expect(await server?.stat(`listener.${SERVER}_${REDIS.port}.ssl.connection_error`)).toBeGreaterThan(0);
  });

  it.each(['ads', 'sni.msvc.default.east.nobody.80', `in:${REDIS_SNI}`, REDIS_KRI])(
    'the server name %s is refused by the ingress, and counted; nothing is dialled',
    async (servername) => {
      const counters = ['tcp.ingress.downstream_cx_no_route', 'cluster.ads.upstream_cx_total'];
      const read = (): Promise<number[]> => Promise.all(counters.map(async (name) => (await ingress?.stat(name)) ?? 0));
      const [before = 0, dialled] = await read();
      expect(await sayTls({ host: INGRESS.address, port: INGRESS.port, servername })).toBe('');
      expect(await read()).toEqual([before + 1, dialled]);
    },
  );

  it('redirected connections ask for their cluster at first use; an unknown address is refused at once', async () => {
    const [tcp, http] = [redisAny(), webAny()];
    const { port } = tcp;
    const held = async (): Promise<readonly string[]> => {
      const text = (await redirected?.ask('/clusters')) ?? '';
      return [...new Set([...text.matchAll(/^(.+?)::/gm)].map(([, name]) => name ?? ''))];
    };
    expect(await held()).toEqual(['ads']);
    expect(await say(tcp.vip, port, 'a')).toBe('redis:a');
    expect(await say(host(99), port)).toBe('');
    // An HTTP service goes round through its filter chain, then directly.
    expect(await ask(http.vip, port)).toMatchObject({ status: 200, name: 'web' });
    expect(await ask(http.vip, port)).toMatchObject({ status: 200, name: 'web' });
    expect(await held()).toEqual(expect.arrayContaining([`vip:${tcp.vip}:${port}`]));
    expect(await redirected?.stat(`http.kri_msvc_default_east__web-any_${port}.downstream_cx_total`)).toBe(2);
  });

  it('redirected connections reach, of what comes from App Mesh, the backends of the VirtualNode alone (T003-35)', async () => {
    const { vip, port } = redisAny();
    const both = [west as TrafficPlane, east as TrafficPlane];
    const fromAppMesh = (labels: Labels): void => {
      for (const [name, at, protocol] of [
        ['redis-any', redisAny(), 'tcp'],
        ['web-any', webAny(), 'http'],
      ] as const)
        putAll(both, { ...service(name, at, protocol), labels });
    };
    fromAppMesh({ 'causeway.io/managed-by': 'VirtualService' });
    const reached = async (): Promise<string> =>
      [await say(vip, port), (await ask(webAny().vip, port)).name].map((each) => each ?? '').join(' ');
    const becomes = (wanted: string): Promise<unknown> =>
      until(`"${wanted}"`, async () => (await reached()) === wanted);
    await becomes('redis:hello web');
    west?.state.put(bound([]));
    await becomes(' ');
    west?.state.put(bound(['web-any']));
    await becomes(' web');
    west?.state.put(bound(['redis-any']));
    await becomes('redis:hello ');
    // Any Dataplane reaches services that do not come from App Mesh.
    west?.state.put(bound([]));
    await becomes(' ');
    fromAppMesh({});
    await becomes('redis:hello web');
    west?.state.put(bound());
  });

  it('an Envoy before 1.40 gets HTTP services as bytes, on demand like others', async () => {
    const { at, reentry } = { at: { address: '0.0.0.0', port: any }, reentry: { address: host(1), port: 15011 } };
    await redirected?.stop();
    const capture = { type: 'redirect', at, reentry, withoutChains: true } as const;
    const older = await west?.envoy('older', { mesh: 'default', listed: new Set(), capture }, 'client');
    await until('a request', async () => (await ask(webAny().vip, any)).name === 'web');
    expect(await say(redisAny().vip, any, 'a')).toBe('redis:a');
    expect(await older?.ask('/stats?filter=downstream_rq_total&usedonly')).not.toContain('web-any');
  });
});
