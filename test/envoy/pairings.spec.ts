/*
 * Requirements of this file, and their other tests:
 * * The planes `builtin` and `envoy` in all four pairings of client and server, the ingress included; throughput and
 *   latency beside each other by `bench/plane.ts`. Also: test/agent/zones.spec.ts.
 * * Planes and capture: the same client tests; unknown virtual IPs are refused at once; rules and routes are after
 *   the stop as before the start, after a kill too. Also: libs/agent/src/builtin/builtin-plane.spec.ts,
 *   test/agent/capture.spec.ts, test/agent/redirect.spec.ts, test/agent/clients.spec.ts.
 */
import { connect } from 'node:net';
import { formatPrometheus } from '@causeway/agent/testing';
import type { EnvoyView } from '@causeway/xds-translation';
import { BuiltinProxy } from '../support/builtin-proxy';
import { ENVOY, EnvoyProcess } from '../support/envoy-process';
import { loopbackBlock } from '../support/loopback-networks';
import { ask, echo, httpService, say, type ServiceProcess } from '../support/mesh-processes';
import { PROXY_KINDS, putAll, TrafficPlane, type ProxyKind } from '../support/traffic-plane';
import { sketch } from '../support/traffic-zone';
import { until } from '../support/until';

const PAIRINGS = PROXY_KINDS.flatMap((client) => PROXY_KINDS.map((server) => [client, server] as const));

const host = loopbackBlock();
const EAST = { zone: 'east' };
const PORTS = { redis: 6379, web: 8080 };
type App = keyof typeof PORTS;
const number = (kind: ProxyKind): number => PROXY_KINDS.indexOf(kind) + 1;
const serviceName = (app: App, client: ProxyKind, server: ProxyKind): string => `${app}-${client}-${server}`;
const vip = (client: ProxyKind, server: ProxyKind): string => host(10 * number(client) + number(server));
const ingressAt = (kind: ProxyKind) => ({ address: host(110 + number(kind)), port: 10001 });

/** Names of metrics in the text format of Prometheus, with the type and the labels of each. */
function metricsIn(text: string): ReadonlyMap<string, string> {
  const types = new Map([...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = '', type = '']) => [name, type]));
  return new Map(
    [...text.matchAll(/^(envoy_\w+)(?:\{(.*)\})? \S+$/gm)].map(([, name = '', labels = '']) => [
      // The access filter's have the listener's address in their names.
      name.replace(/^envoy_inbound_.*_rbac_/, 'envoy_inbound_ADDRESS_rbac_'),
      `${types.get(name) ?? ''} ${[...labels.matchAll(/(\w+)="/g)].map(([, label]) => label).join()}`,
    ]),
  );
}

/** Envoy and the builtin proxy get the same configuration, and the other side sees no difference. */
describe('from west to a process in east', () => {
  let [west, east]: readonly TrafficPlane[] = [];
  const processes: ServiceProcess[] = [];

  const proxies: Partial<Record<ProxyKind, (EnvoyProcess | BuiltinProxy)[]>> = {};
  const ingresses = new Map<ProxyKind, EnvoyProcess | BuiltinProxy>();

  async function start(plane: TrafficPlane, kind: ProxyKind, node: string, view: Partial<EnvoyView>) {
    const whole = { mesh: 'default', listed: new Set<string>(), ...view };
    const workload = view.ingress ? undefined : node;
    const proxy = await plane.proxy(kind, node, whole, workload);
    (proxies[kind] ??= []).push(proxy);
    return proxy;
  }

  /** The services of each pairing have addresses of their own: one machine has each of them once. */
  function services() {
    return PAIRINGS.flatMap(([client, server]) =>
      (['redis', 'web'] as const).map((app) => {
        const ports = [{ port: PORTS[app], appProtocol: app === 'web' ? 'http' : 'tcp' }];
        const identities = [{ type: 'SpiffeID', value: `spiffe://default.east.mesh.local/workload/server-${server}` }];
        const spec = { selector: { dataplaneTags: { app: `${app}-${server}` } }, ports, identities };
        const status = { vip: { ip: vip(client, server) } };
        return sketch('MeshService', serviceName(app, client, server), spec, { ...EAST, status });
      }),
    );
  }

  const enterBy = (kind: ProxyKind): void => {
    putAll([west as TrafficPlane, east as TrafficPlane], sketch('MeshZoneAddress', 'in', ingressAt(kind), EAST));
  };

  beforeAll(async () => {
    const [a, b] = await Promise.all([TrafficPlane.start('west'), TrafficPlane.start('east')]);
    [west, east] = [a, b];
    putAll([a, b], a.trust(''), b.trust(''), ...services());
    for (const kind of PROXY_KINDS) {
      const [redis, web] = await Promise.all([echo(`redis by ${kind}`), httpService(`web by ${kind}`)]);
      processes.push(redis, web);
      const { id } = b.dataplane(`server-${kind}`, {
        address: host(100 + number(kind)),
        inbound: [
          { port: PORTS.redis, servicePort: redis.port, tags: { app: `redis-${kind}` } },
          { port: PORTS.web, servicePort: web.port, tags: { app: `web-${kind}` }, protocol: 'http' },
        ],
      });
      const listed = PROXY_KINDS.flatMap((server) =>
        (['redis', 'web'] as const).map(
          (app) => `kri_msvc_default_east__${serviceName(app, kind, server)}_${PORTS[app]}`,
        ),
      );
      await Promise.all([
        start(b, kind, `server-${kind}`, { dataplane: id }),
        start(b, kind, `ingress-${kind}`, { ingress: ingressAt(kind) }).then((one) => ingresses.set(kind, one)),
        start(a, kind, `client-${kind}`, { capture: { type: 'bind' }, listed: new Set(listed) }),
      ]);
    }
  });
  afterAll(async () => {
    await Promise.all([west?.stop(), east?.stop()]);
    await Promise.all(processes.map((one) => one.stop()));
  });
  afterEach(() => expect([...(west?.problems() ?? []), ...(east?.problems() ?? [])]).toEqual([]));

  describe.each(PROXY_KINDS)('through an ingress of %s', (ingress) => {
    const entered = (): Promise<number> =>
      ingresses.get(ingress)?.stat('tcp.ingress.downstream_cx_total') ?? Promise.resolve(0);
    beforeAll(() => enterBy(ingress));

    it.each(PAIRINGS)('%s reaches a process behind %s: bytes and requests', async (client, server) => {
      const at = vip(client, server);
      const before = await entered();
      await until('redis', async () => (await say(at, PORTS.redis)) === `redis by ${server}:hello`);
      await until('the ingress', async () => (await say(at, PORTS.redis)) !== '' && (await entered()) > before);
      await until('web', async () => (await ask(at, PORTS.web)).name === `web by ${server}`);
    });

    it.each(PAIRINGS)(
      '%s to %s: the end of one direction is passed on, and the answer comes',
      async (client, server) => {
        const socket = connect({ host: vip(client, server), port: PORTS.redis, allowHalfOpen: true });
        const text = await new Promise<string>((resolve) => {
          let all = '';
          socket.on('data', (part) => (all += part.toString())).on('end', () => resolve(all));
          socket.on('error', (error) => resolve(error.message));
          socket.end('last words');
        });
        expect(text).toBe(`redis by ${server}:last words`);
        socket.destroy();
      },
    );
  });

  describe('after that', () => {
    (ENVOY === undefined ? it.skip : it)(
      'the builtin plane counts by names, labels and types that Envoy has',
      async () => {
        const known = new Map<string, string>();
        for (const one of proxies.envoy ?? [])
          if (one instanceof EnvoyProcess)
            for (const [name, form] of metricsIn(await one.ask('/stats/prometheus'))) known.set(name, form);
        const own = new Map<string, string>();
        for (const one of proxies.builtin ?? [])
          if (one instanceof BuiltinProxy)
            for (const [name, form] of metricsIn(formatPrometheus(await one.plane.stats()))) own.set(name, form);
        const of = (names: ReadonlyMap<string, string>): object =>
          Object.fromEntries([...own.keys()].map((name) => [name, names.get(name)]));
        expect(own.size).toBeGreaterThan(12);
        expect(of(known)).toEqual(of(own));
      },
    );
  });
});
