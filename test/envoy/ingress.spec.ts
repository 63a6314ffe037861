import { connect as connectTcp } from 'node:net';
import type { BuiltinProxy } from '../support/builtin-proxy';
import type { EnvoyProcess } from '../support/envoy-process';
import { loopbackBlock } from '../support/loopback-networks';
import { ask, echo, holdTls, httpService, say, sayTls, type ServiceProcess } from '../support/mesh-processes';
import type { TestCertificate } from '../support/test-authority';
import { PROXY_KINDS, putAll, TrafficPlane } from '../support/traffic-plane';
import { sketch } from '../support/traffic-zone';
import { until } from '../support/until';

const host = loopbackBlock();
const EAST = { zone: 'east' };
const REDIS = { vip: host(7), port: 6379 };
const WEB = { vip: host(8), port: 8080 };
const SNI = 'sni.msvc.default.east.redis.6379';
const FIRST = { address: host(100), port: 10001 };
const SECOND = { address: host(102), port: 10001 };
const NARROW = { address: host(103), port: 10001 };
/** Sources of which not all have the same limits. */
const SOURCES = Array.from({ length: 16 }, (_, i) => host(200 + i));
const CONNECTIONS = 3;

describe.each(PROXY_KINDS)('the ingresses of a zone, by %s,', (kind) => {
  let [west, east]: readonly TrafficPlane[] = [];
  let [first, , narrow]: readonly (EnvoyProcess | BuiltinProxy)[] = [];
  let silent: Promise<void> | undefined;
  let certificate: Promise<TestCertificate>;
  const processes: ServiceProcess[] = [];
  const stops: (() => void)[] = [];

  beforeAll(async () => {
    const [a, b] = await Promise.all([TrafficPlane.start('west'), TrafficPlane.start('east')]);
    [west, east] = [a, b];
    certificate = a.authority.issue({ uri: a.spiffeId('client') });
    const [redis, web] = await Promise.all([echo('redis'), httpService('web')]);
    processes.push(redis, web);
    const service = (name: string, { vip, port }: typeof REDIS, appProtocol: string) =>
      sketch(
        'MeshService',
        name,
        {
          selector: { dataplaneTags: { app: name } },
          ports: [{ port, appProtocol }],
          identities: [{ type: 'SpiffeID', value: b.spiffeId('server') }],
        },
        { ...EAST, status: { vip: { ip: vip } } },
      );
    const addresses = [FIRST, SECOND].map((at, i) => sketch('MeshZoneAddress', `in-${i}`, { ...at }, EAST));
    putAll([a, b], a.trust(''), b.trust(''), service('redis', REDIS, 'tcp'), service('web', WEB, 'http'), ...addresses);
    const { id } = b.dataplane('server', {
      address: host(101),
      inbound: [
        { port: REDIS.port, servicePort: redis.port, tags: { app: 'redis' } },
        { port: WEB.port, servicePort: web.port, tags: { app: 'web' }, protocol: 'http' },
      ],
    });
    const view = { mesh: 'default', listed: new Set<string>() };
    const sourceLimits = { connections: CONNECTIONS, perSecond: 5 };
    const started = await Promise.all([
      b.proxy(kind, 'first', { ...view, ingress: FIRST }),
      b.proxy(kind, 'second', { ...view, ingress: SECOND }),
      b.proxy(kind, 'narrow', { ...view, ingress: NARROW, sourceLimits }),
      a.proxy(kind, 'client', { mesh: 'default', listed: 'all', capture: { type: 'bind' } }, 'client'),
      b.proxy(kind, 'server', { ...view, dataplane: id }, 'server'),
    ]);
    [first, , narrow] = started;
    await until('redis', async () => (await say(REDIS.vip, REDIS.port)) === 'redis:hello');
    await until('web', async () => (await ask(WEB.vip, WEB.port)).status === 200);
    const socket = connectTcp(NARROW.port, NARROW.address).on('error', () => undefined);
    silent = new Promise((closed) => socket.on('close', () => closed()));
  });
  afterAll(async () => {
    for (const stop of stops) stop();
    await Promise.all([west?.stop(), east?.stop()]);
    await Promise.all(processes.map((one) => one.stop()));
  });
  afterEach(() => expect([...(west?.problems() ?? []), ...(east?.problems() ?? [])]).toEqual([]));

  /** Connects as the mesh does, from this source address; the connection stays open. */
  async function enter(localAddress: string): Promise<boolean> {
    const { chain: cert, key } = await certificate;
    const { address, port } = NARROW;
    const socket = await holdTls(localAddress, { host: address, port, servername: SNI, cert, key });
    if (socket) stops.push(() => socket.destroy());
    return socket !== undefined;
  }

  it('one source does not take the connections of others, and what it may not have is counted', async () => {
    const [greedy = '', ...others] = SOURCES;
    const held = await Promise.all(Array.from({ length: 40 }, () => enter(greedy)));
    expect(held.filter(Boolean)).toHaveLength(CONNECTIONS);
    const counters = ['connection_limit.ingress.limited_connections', 'local_rate_limit.ingress.rate_limited'];
    const [limited = 0, rated = 0] = await Promise.all(counters.map(async (name) => (await narrow?.stat(name)) ?? 0));
    expect(limited).toBeGreaterThan(0);
    expect(rated).toBeGreaterThan(0);
    expect(limited + rated).toBe(40 - CONNECTIONS);
    // Sources are distinguished by a hash: few share the group of another one.
    const served = await Promise.all(others.map(enter));
    expect(served.filter(Boolean).length).toBeGreaterThan(others.length / 2);
  });

  it('a connection without a ClientHello ends after 5 s, and is counted', async () => {
    await silent;
    expect(await narrow?.stat(`listener.${NARROW.address}_${NARROW.port}.downstream_pre_cx_timeout`)).toBe(1);
  });

  it('one that dies is left at once: no connection and no request fails', async () => {
    await first?.stop();
    const answers = await Promise.all(Array.from({ length: 40 }, () => say(REDIS.vip, REDIS.port)));
    expect(new Set(answers)).toEqual(new Set(['redis:hello']));
    const requests = await Promise.all(Array.from({ length: 40 }, () => ask(WEB.vip, WEB.port)));
    expect(new Set(requests.map(({ status }) => status))).toEqual(new Set([200]));
  });

  it('a listener of a Dataplane is an ingress for its mesh, and for no other', async () => {
    const plane = east as TrafficPlane;
    const { chain, key } = await certificate;
    const entrances = ['default', 'other'].map((mesh, i) => ({ mesh, at: { address: host(104 + i), port: 10001 } }));
    for (const { mesh, at } of entrances) {
      const listeners = [{ type: 'ZoneIngress', ...at }];
      const dataplane = sketch(
        'Dataplane',
        'entrance',
        { networking: { address: at.address, listeners } },
        { ...EAST, mesh },
      );
      plane.state.put(dataplane);
      await plane.proxy(kind, `entrance-${mesh}`, { mesh, listed: new Set(), dataplane: dataplane.id });
    }
    const enterAt = ({ address, port }: typeof FIRST): Promise<string> =>
      sayTls({ host: address, port, servername: SNI, cert: chain, key });
    const [own, foreign] = entrances.map(({ at }) => at);
    await until('the entrance of the mesh', async () => (await enterAt(own ?? FIRST)) === 'redis:hello');
    await until('that of the other mesh is settled', () => plane.isSettled('entrance-other'));
    expect(await enterAt(foreign ?? FIRST)).toBe('');
  });
});
