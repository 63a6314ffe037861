import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, type TLSSocket } from 'node:tls';
import { parse } from 'yaml';
import { createWorkloadKey, WorkloadCertificates } from '@causeway/identity';
import { runAsAdmin, type Ran } from '../ctl/run-causeway';
import { ENVOY, EnvoyProcess } from '../support/envoy-process';
import { loopbackBlock } from '../support/loopback-networks';
import { echo, say, sayTls, type ServiceProcess } from '../support/mesh-processes';
import { createTestDatabase, type TestDatabase } from '../support/postgres';
import { until } from '../support/until';
import { ZoneProgram } from '../support/zone-program';
import { adminFetch } from '../support/admin-credential';

const host = loopbackBlock();
const APP = host(100);
const INGRESS = { address: host(101), port: 10001 };
const EGRESS = { address: host(102), port: 10002 };
const SNI = 'sni.msvc.default.east.redis.6379';
/** Most connections of the ingress. */
const CONNECTIONS = 4;

/** From a zone token of the zone itself to traffic: every part as its user has it. */
(ENVOY === undefined ? describe.skip : describe)('the ingress and the egress of a zone by itself', () => {
  let database: TestDatabase;
  let zone: ZoneProgram;
  let [redis, api]: readonly ServiceProcess[] = [];
  let folder = '';
  /** The address of the service outside the mesh. */
  let apiVip = '';
  const envoys: EnvoyProcess[] = [];
  const sockets: TLSSocket[] = [];

  const run = (...args: readonly string[]): Promise<Ran> => runAsAdmin(zone.restUrl, args);

  /** An Envoy with what `causeway proxies bootstrap` wrote. */
  async function start(name: string, ...args: readonly string[]): Promise<EnvoyProcess> {
    const out = join(folder, name);
    const ca = ['--xds', `127.0.0.1:${zone.xds.address.port}`, '--xds-ca-file', join(folder, 'ca.pem')];
    const ran = await run('proxies', 'bootstrap', ...args, ...ca, '-d', out);
    expect(ran).toMatchObject({ code: 0, err: '' });
    const envoy = await EnvoyProcess.run(
      ENVOY ?? '',
      join(out, 'envoy.yaml'),
      mkdtempSync(join(tmpdir(), 'causeway-')),
    );
    envoys.push(envoy);
    return envoy;
  }

  beforeAll(async () => {
    database = await createTestDatabase();
    zone = await ZoneProgram.start({
      DATABASE_URL: database.url,
      CAUSEWAY_XDS_TLS: 'on',
      CAUSEWAY_EXTERNAL_MAY_DIAL: 'default,127.0.0.1',
      CAUSEWAY_VIP_RANGE_MESHSERVICE: `${host(16)}/28`,
      CAUSEWAY_VIP_RANGE_MESHEXTERNALSERVICE: `${host(32)}/28`,
      CAUSEWAY_VIP_RANGE_MESHMULTIZONESERVICE: `${host(48)}/28`,
    });
    await zone.untilLeading();
    folder = mkdtempSync(join(tmpdir(), 'causeway-zone-proxies-'));
    writeFileSync(join(folder, 'ca.pem'), zone.authority ?? '');
    [redis, api] = await Promise.all([echo('redis'), echo('api')]);
    const inbound = [{ port: 6379, servicePort: redis.port, tags: { 'kuma.io/service': 'redis' } }];
    const endpoints = [{ address: '127.0.0.1', port: api.port }];
    const put = (path: string, type: string, name: string, rest: object): Promise<void> =>
      zone.put(path, { type, name, ...(path.startsWith('/meshes/') && { mesh: 'default' }), ...rest });
    const identity = { selector: { dataplane: { matchLabels: {} } }, provider: { type: 'Bundled', bundled: {} } };
    const app = { networking: { address: APP, inbound } };
    await put('/meshes/default/meshidentities/all', 'MeshIdentity', 'all', { spec: identity });
    await put('/meshes/default/dataplanes/app', 'Dataplane', 'app', app);
    await put('/meshes/default/meshexternalservices/api', 'MeshExternalService', 'api', {
      spec: { match: { port: 443, protocol: 'tcp' }, endpoints },
    });
    await put('/zoneingresses/in', 'ZoneIngress', 'in', { networking: INGRESS });
    await put('/zoneegresses/out', 'ZoneEgress', 'out', { networking: EGRESS });
  });
  afterAll(async () => {
    for (const socket of sockets) socket.destroy();
    await Promise.all(envoys.map((envoy) => envoy.stop()));
    await Promise.all([redis, api].map(async (one) => one?.stop()));
    await zone.stop();
    await database.drop();
  });

  it('get their tokens from their zone, for themselves only', async () => {
    const { code, out } = await run('tokens', 'zone', 'east', '--scope', 'ingress');
    expect(code).toBe(0);
    writeFileSync(join(folder, 'ingress.token'), out);
    const refused = await Promise.all([
      run('tokens', 'zone', 'east'),
      run('tokens', 'zone', 'west', '--scope', 'egress'),
    ]);
    expect(refused.map((ran) => ran.code !== 0 && ran.err)).toEqual([
      expect.stringContaining('no zone joins a zone by itself'),
      expect.stringContaining('must be "east"'),
    ]);
    expect((await run('tokens', 'list', '--zones')).out).toMatch(/east/);
  });

  it.each([
    ['ingress', 'zoneingresses'],
    ['egress', 'zoneegresses'],
  ])('are no %s without its resource, whatever the token', async (type, plural) => {
    const ran = await run('proxies', 'bootstrap', `--${type}`, 'no such', '--token-file', join(folder, 'no-file'));
    expect(ran).toMatchObject({ code: 2, out: '' });
    expect(ran.err).toContain(`"no such" here (causeway get ${plural})`);
  });

  it('pass traffic in and out, started by causeway proxies bootstrap', async () => {
    const [ingress, egress] = await Promise.all([
      start(
        'in',
        '--ingress',
        'in',
        '--token-file',
        join(folder, 'ingress.token'),
        '--max-connections',
        `${CONNECTIONS}`,
      ),
      start('out', '--egress', 'out'),
      start('app', 'default/app', '--capture', 'bind'),
    ]);
    const { privateKey: key, csr } = await createWorkloadKey();
    const dataplane = { kind: 'Dataplane', mesh: 'default', zone: 'east', namespace: 'default', name: 'app' };
    const issuer = zone.app.get(WorkloadCertificates, { strict: false });
    const { chain: cert } = await issuer.issue({ dataplane, binding: { mesh: 'default', name: 'app' }, csr });
    const caller = { host: INGRESS.address, port: INGRESS.port, servername: SNI, cert, key };
    await until('the way in', async () => (await sayTls(caller)) === 'redis:hello');
    const read = async (): Promise<string | undefined> => {
      const answer = await adminFetch(`${zone.restUrl}/meshes/default/meshexternalservices/api`);
      return ((await answer.json()) as { status?: { vip?: { ip?: string } } }).status?.vip?.ip;
    };
    apiVip = await until('its address', read);
    await until('the way out', async () => (await say(apiVip, 443)) === 'api:hello');
    expect(await egress.stat('tcp.egress.downstream_cx_total')).toBeGreaterThan(0);

    // Held connections take all that the ingress has; the next ones are closed as they come.
    const overflow = `listener.${INGRESS.address}_${INGRESS.port}.downstream_global_cx_overflow`;
    for (let i = 0; i < CONNECTIONS + 2; i++)
      sockets.push(connect({ ...caller, rejectUnauthorized: false }).on('error', () => undefined));
    await until('the bound', async () => (await ingress.stat(overflow)) > 0);
    expect(await ingress.ask('/ready')).toContain('LIVE');
  });

  it('are shown with their certificates, and sent away when their token is revoked', async () => {
    const list = async (): Promise<string> => (await run('proxies', '-m', '-', '-o', 'yaml')).out;
    const expected = ['kind: ingress', 'kind: egress', 'spiffe://default.east.mesh.local/zone-egress'];
    await until('both, with the certificate', async () => {
      const text = await list();
      return expected.every((part) => text.includes(part));
    });
    const tokens = JSON.parse((await run('tokens', 'list', '--zones', '-o', 'json')).out) as {
      items: readonly { id: string; scope: readonly string[] }[];
    };
    const { id } = tokens.items.find(({ scope }) => scope.includes('egress')) ?? { id: '' };
    expect(await run('tokens', 'revoke', id, '--zones')).toMatchObject({ code: 0 });
    await until('it is gone', () => zone.xds.proxies().every((proxy) => proxy.id !== '/egress/out'));
    expect(zone.xds.proxies().some((proxy) => proxy.id === '/ingress/in')).toBe(true);
  });

  it('an egress by kuma-dp, as 2.14 asks for its bootstrap: once its ZoneEgress is written', async () => {
    const { out: token } = await run('tokens', 'zone', 'east', '--scope', 'egress');
    const networking = { address: host(103), port: 10002, admin: { port: 19_931 } };
    const document = { type: 'ZoneEgress', name: 'kuma-out', kri: 'kri_ze____kuma-out_', networking };
    const asked = {
      mesh: '',
      name: 'kuma-out',
      proxyType: 'egress',
      dataplaneToken: token,
      caCert: zone.authority,
      dataplaneResource: JSON.stringify(document),
      version: { kumaDp: { version: '2.14.3' }, envoy: { version: '1.40.0', kumaDpCompatible: false } },
      dynamicMetadata: {},
      features: ['feature-reuse-port'],
      workdir: '/var/lib/kuma-dp/work',
      systemCaPath: '/etc/ssl/certs/ca-certificates.crt',
    };
    expect(await zone.askXds('POST', '/bootstrap', asked)).toMatchObject({
      status: 404,
      text: expect.stringContaining('there is no ZoneEgress "kuma-out"') as string,
    });
    await zone.put('/zoneegresses/kuma-out', { type: 'ZoneEgress', name: 'kuma-out', networking });
    await zone.delete('/zoneegresses/out');
    const answer = await zone.askXds('POST', '/bootstrap', asked);
    expect(answer).toMatchObject({ status: 200 });
    const { bootstrap } = JSON.parse(answer.text) as { bootstrap: string };
    const text = Buffer.from(bootstrap, 'base64').toString();
    expect(parse(text)).toMatchObject({
      admin: { address: { socket_address: { port_value: 19_931 } } },
      node: { id: '.kuma-out', metadata: { 'dataplane.proxyType': 'egress', systemCaPath: asked.systemCaPath } },
    });
    const file = join(folder, 'kuma-out.yaml');
    // Its own port, whatever else runs on this machine.
    writeFileSync(file, text.replace('port_value: 19931', 'port_value: 0'));
    const envoy = await EnvoyProcess.run(ENVOY ?? '', file, mkdtempSync(join(tmpdir(), 'causeway-')));
    envoys.push(envoy);
    await until('the way out', async () => (await say(apiVip, 443)) === 'api:hello');
    expect(await envoy.stat('tcp.egress.downstream_cx_total')).toBeGreaterThan(0);
    // Its key was made by the control plane, as Kuma's are.
    expect(await envoy.ask('/certs')).toContain('/zone-egress');
  });
});
