/*
 * What must hold, and where else it is tested:
 * * PUT of redis in east, SET through west's Envoy, GET in east; first answers by `bench/first-answer.ts`.
 * * Another server identity, another client identity, plaintext and an unknown server name are refused and counted.
 *   Also: test/envoy/modes.spec.ts.
 * * What a proxy rejects, or Envoy's rules refuse, is named at the Dataplane; all others apply. Also:
 *   test/envoy/envoy.spec.ts, test/envoy/proxies.spec.ts, libs/agent-service/src/scenarios/proxy-status.spec.ts.
 * * Whoever has the authority of east is nobody of west; what grpc-js leaves open is shown. Also:
 *   test/envoy/grpc-mesh.spec.ts.
 */
import { RedisServer } from '../chaos/leader/redis-server';
import { runAsAdmin } from '../ctl/run-causeway';
import { ENVOY, type EnvoyProcess } from '../support/envoy-process';
import { sayTls } from '../support/mesh-processes';
import { until } from '../support/until';
import { call, type At } from './calls';
import { StolenAuthority } from './stolen-authority';
import { PORT, TrafficMesh, type Instance } from './traffic-mesh';

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
});
