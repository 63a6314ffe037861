/*
 * Requirements of this file, and their other tests:
 * * PUT of redis in east, SET through west's Envoy, GET in east; first answers by `bench/first-answer.ts`.
 * * Another server identity, another client identity, plaintext and an unknown server name are refused and counted.
 *   Also: test/envoy/modes.spec.ts.
 * * What a proxy rejects, or Envoy's rules refuse, is named at the Dataplane; all others apply. Also:
 *   test/envoy/envoy.spec.ts, test/envoy/proxies.spec.ts, libs/agent-service/src/scenarios/proxy-status.spec.ts.
 * * Whoever has the authority of east is nobody of west; what grpc-js leaves open is shown. Also:
 *   test/envoy/grpc-mesh.spec.ts.
 * * The shares of a route of the global are applied in both zones. Also: test/envoy/routes.spec.ts.
 */
import { createServer, get, Agent, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { RedisServer } from '../chaos/leader/redis-server';
import { runAsAdmin } from '../ctl/run-causeway';
import { ENVOY, type EnvoyProcess } from '../support/envoy-process';
import { drawnFairly } from '../support/fair-draw';
import { sayTls } from '../support/mesh-processes';
import { until } from '../support/until';
import { call, type At } from './calls';
import { StolenAuthority } from './stolen-authority';
import { PORT, TrafficMesh, type Instance } from './traffic-mesh';

const DRAWS = 1_000;
const AT_ONCE = 20;

/** The example of GEP-1426: its document with a kind, `rules` as a list, and the group of the parent. */
const ROUTE = `apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata:
  name: foo-route
  namespace: store
spec:
  parentRefs:
  - group: ""
    kind: Service
    name: foo
  rules:
  - backendRefs:
    - kind: Service
      name: foo
      port: ${PORT}
      weight: 90
    - kind: Service
      name: foo-v2
      port: ${PORT}
      weight: 10
`;

(ENVOY === undefined ? describe.skip : describe)('between zones that are programs, through real Envoys,', () => {
  const open: { stop(): Promise<unknown> }[] = [];
  let traffic: TrafficMesh;
  let west: EnvoyProcess;
  let server: Instance;

  beforeAll(async () => {
    traffic = await TrafficMesh.start();
    open.push(traffic);
    [, west] = await Promise.all([traffic.client('east'), traffic.client('west')]);
    server = await traffic.instance('west', 'web', 'web-1');
  });
  afterAll(async () => {
    for (const one of open.reverse()) await one.stop();
  });

  it('what is SET in west is what GET gives in east', async () => {
    const redis = await RedisServer.start();
    open.push({ stop: () => redis.kill() });
    const process = { port: Number(new URL(redis.url).port) };
    const at = { address: traffic.machine(), port: PORT };
    await traffic.putInstance({ zone: 'east', service: 'redis', name: 'redis-1', at, process });
    await traffic.proxy('east', 'redis-1');
    const near = await traffic.vip('east', 'redis', 'east');
    const far = await traffic.vip('west', 'redis', 'east');
    const said = (vip: At, text: string): Promise<string> => call(vip, { text: `${text}\r\n` });
    for (const vip of [near, far]) await until('redis', async () => (await said(vip, 'PING')) === '+PONG\r\n');
    expect(await said(far, 'SET greeting from-west')).toBe('+OK\r\n');
    expect(await said(near, 'GET greeting')).toBe('$9\r\nfrom-west\r\n');
    expect(near.address).not.toBe(far.address);
    expect(await traffic.ingress('east').sum(/^cluster\.in_.*redis.*upstream_cx_total$/)).toBeGreaterThan(0);
  });

  it('a server with another identity than the service’s is not believed, and counted', async () => {
    const safe = await traffic.instance('east', 'safe', 'safe-1');
    const vip = await traffic.vip('west', 'safe', 'east');
    await until('an answer', async () => (await call(vip)) === 'safe-1:who');
    // Another workload takes the address: it has a certificate of the same authority.
    await safe.proxy.stop();
    await traffic.putInstance({ ...safe, service: 'thief', name: 'thief-1' });
    await traffic.proxy('east', 'thief-1');
    const refused = (): Promise<number> => west.sum(/^cluster\..*safe.*ssl\.fail_verify_san$/);
    await until('a refusal', async () => (await call(vip)) === '' && (await refused()) > 0);
    expect(await call(vip)).toBe('');
  });

  it.each<[string, (at: At) => Promise<string>, RegExp]>([
    [
      'speaks no TLS',
      (at) => call(at, { text: 'who is there?' }),
      /^listener\..*_6379\.(no_filter_chain_match|ssl\.connection_error)$/,
    ],
    [
      'has no certificate',
      ({ address, port }) => sayTls({ host: address, port }),
      /^listener\..*_6379\.ssl\.fail_verify_no_cert$/,
    ],
  ])('a client that %s is refused, and counted', async (_, asked, counter) => {
    const before = await server.proxy.sum(counter);
    expect(await asked(server.at)).not.toContain('web-1');
    await until('a refusal', async () => (await server.proxy.sum(counter)) > before);
  });

  it('whoever has the authority of east is no workload of west, but one of east', async () => {
    const stolen = await StolenAuthority.open(await traffic.mesh.databaseUrl('east'), traffic.secrets, 'east');
    open.push(stolen);
    const refused = () => server.proxy.sum(/^listener\..*_6379\.ssl\.fail_verify_error$/);
    const before = await refused();
    const as = async (zone: string): Promise<string> => {
      const certificate = await stolen.certificate(`spiffe://default.${zone}.mesh.local/workload/client-${zone}`);
      return sayTls({ host: server.at.address, port: PORT, ...certificate }, 'who');
    };
    expect(await as('west')).toBe('');
    await until('a refusal', async () => (await refused()) > before);
    expect(await as('east')).toBe('web-1:who');
  });

  it.each(['ads', 'nobody', 'sni.msvc.default.west.nobody.80', 'in:sni.msvc.default.west.web.6379', 'outbound'])(
    'the server name %s is refused by the ingress, and counted',
    async (servername) => {
      const ingress = traffic.ingress('west');
      const refused = () => ingress.sum(/^tcp\.ingress\.downstream_cx_no_route$/);
      const before = await refused();
      const { address, port } = traffic.ingressAt('west');
      expect(await sayTls({ host: address, port, servername })).toBe('');
      expect(await refused()).toBe(before + 1);
    },
  );

  it('what Envoy rejects and what its rules refuse is named at the Dataplane, until it is mended; all others apply', async () => {
    const zone = traffic.zone('west');
    const inbound = (port: number, service: string, more: object = {}): object => ({
      port,
      servicePort: server.process.port,
      ...more,
      tags: { 'kuma.io/service': service, 'kuma.io/protocol': 'tcp' },
    });
    const web = (...more: readonly object[]): Promise<void> => {
      const networking = { address: server.at.address, inbound: [inbound(PORT, 'web'), ...more] };
      return traffic.put(zone, 'Dataplane', 'web-1', { networking });
    };
    const said = async (name: string): Promise<string> =>
      (await runAsAdmin(zone.restUrl, ['describe', 'dataplane', name])).out.replace(/\s+/g, ' ');
    // An address of no machine here, which no rule knows; and a server outside the mesh whose authority is in no secret.
    const foreign = inbound(7000, 'odd', { address: '192.0.2.1' });
    await web(foreign);
    await until('what Envoy rejects', async () =>
      /RejectedByProxy.* inbound:192\.0\.2\.1:7000 .*cannot bind/.test(await said('web-1')),
    );
    const verification = { caCert: { secret: 'nobody' } };
    await traffic.put(zone, 'MeshExternalService', 'outside', {
      match: { port: 443 },
      endpoints: [{ address: '127.0.0.1', port: 1 }],
      tls: { enabled: true, verification },
    });
    await until('what the rules refuse', async () =>
      /BreaksEnvoyRules.*outside.*nobody/.test(await said('client-west')),
    );
    const next = inbound(7100, 'next');
    await web(foreign, next);
    const vip = await traffic.vip('west', 'next', 'west');
    await until('an answer', async () => (await call({ ...vip, port: 7100 })) === 'web-1:who');
    expect(await said('web-1')).not.toContain('inbound:127');
    await web(next);
    await traffic.delete(zone, 'MeshExternalService', 'outside');
    await until('no rejection', async () => !(await said('web-1')).includes('RejectedByProxy'));
    await until('no refusal', async () => !(await said('client-west')).includes('BreaksEnvoyRules'));
  });

  describe('a route of the global', () => {
    const servers: Server[] = [];
    const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });
    const vips = new Map<string, At>();

    /** Starts an instance of a service of namespace `store`: an HTTP process that answers with the service's name, its Dataplane and its Envoy. */
    async function instance(zone: string, service: string): Promise<void> {
      const server = createServer((_, answer) => answer.end(service));
      server.keepAliveTimeout = 60_000;
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      servers.push(server);
      const tags = { 'kuma.io/service': service, 'kuma.io/protocol': 'http' };
      const inbound = [{ port: PORT, servicePort: (server.address() as AddressInfo).port, tags }];
      const networking = { address: traffic.machine(), inbound };
      const name = `${service}-1`;
      const body = { type: 'Dataplane', mesh: 'default', name, namespace: 'store', spec: { networking } };
      expect(await traffic.zone(zone).put(`/meshes/default/dataplanes/${name}?namespace=store`, body)).toBe(201);
      await traffic.proxy(zone, `${name}.store`);
    }

    const ask = ({ address, port }: At): Promise<string> =>
      new Promise((resolve) => {
        const sent = get({ host: address, port, path: '/', agent, timeout: 20_000 }, (answer) => {
          let text = '';
          answer.on('data', (part: Buffer) => (text += part.toString()));
          answer.on('end', () => resolve(answer.statusCode === 200 ? text : String(answer.statusCode)));
        });
        sent.on('error', () => resolve('')).on('timeout', () => sent.destroy());
      });

    async function draw(at: At): Promise<readonly string[]> {
      const answers: string[] = [];
      while (answers.length < DRAWS)
        answers.push(...(await Promise.all(Array.from({ length: AT_ONCE }, () => ask(at)))));
      return answers;
    }

    beforeAll(async () => {
      await Promise.all([instance('east', 'foo'), instance('west', 'foo-v2')]);
      for (const zone of ['east', 'west']) {
        const path =
          zone === 'east' ? 'meshservices/foo?namespace=store' : 'meshservices/foo?namespace=store&zone=east';
        vips.set(zone, await traffic.vipOf(zone, path));
      }
    });
    afterAll(() => {
      agent.destroy();
      for (const server of servers) server.close();
    });

    it('the 90/10 of the seed (T002-08): what is applied is obeyed in both zones, exactly', async () => {
      for (const [zone, at] of vips) await until(`foo answers in ${zone}`, async () => (await ask(at)) === 'foo');
      const ran = await runAsAdmin(traffic.mesh.global.restUrl, ['apply', '-f', '-'], ROUTE);
      expect([ran.code, ran.err]).toEqual([0, '']);
      for (const [zone, at] of vips) await until(`foo-v2 answers in ${zone}`, async () => (await ask(at)) === 'foo-v2');
      for (const [zone, at] of vips)
        expect([zone, await drawnFairly(() => draw(at), { foo: 90, 'foo-v2': 10 })]).toEqual([zone, []]);
    });
  });
});
