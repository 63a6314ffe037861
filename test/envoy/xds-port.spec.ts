/**
 * Kuma 2.14: observations of its programs; recorded messages and starts in tests. Also: libs/agent-service/src/proxies/kuma-dp.spec.ts,
 * test/envoy/mesh-mtls.spec.ts.
 */
import { once } from 'node:events';
import { mkdtempSync, statSync, writeFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { parse } from 'yaml';
import type { DataplaneTokenRequest, DataplaneTokens } from '@causeway/access';
import { createWorkloadKey } from '@causeway/identity';
import type { JsonObject } from '@causeway/resources';
import { envoyBootstrap } from '@causeway/xds-translation';
import { RESOURCE_TYPES } from '@causeway/xds-server';
import { DATAPLANE_TOKENS } from '../../apps/zone/src/identity/workload-identity.module';
import { runAsAdmin } from '../ctl/run-causeway';
import { deltaClient, type DeltaClient } from '../support/ads-client';
import { ENVOY, EnvoyProcess } from '../support/envoy-process';
import { createTestDatabase, type TestDatabase } from '../support/postgres';
import { until } from '../support/until';
import { ZoneProgram } from '../support/zone-program';
import { adminFetch } from '../support/admin-credential';

const INBOUND = { port: 16379, servicePort: 6379, tags: { 'kuma.io/service': 'redis' } };
const REDIS = { networking: { address: '127.0.0.1', inbound: [INBOUND] } };
const SPIFFE_ID = 'spiffe://default.east.mesh.local/workload/redis-1';

(ENVOY === undefined ? describe.skip : describe)('a zone that serves a real Envoy', () => {
  let database: TestDatabase;
  let zone: ZoneProgram;
  let port = 0;
  let good = '';
  const envoys: EnvoyProcess[] = [];
  /** A registration that takes its time while the tests between go on. */
  let registeredGoes: Promise<unknown> | undefined;

  const startZone = (): Promise<ZoneProgram> =>
    ZoneProgram.start({
      DATABASE_URL: database.url,
      CAUSEWAY_XDS_TLS: 'on',
      CAUSEWAY_XDS_PORT: String(port),
      CAUSEWAY_WORKLOAD_CERT_VALIDITY: '12s',
    });
  const tokens = () => zone.app.get<DataplaneTokens>(DATAPLANE_TOKENS, { strict: false }).tokens;
  const issue = async (request: DataplaneTokenRequest): Promise<{ token: string; id: string }> => {
    await tokens().ensureKey();
    return tokens().issue(request);
  };

  interface Start {
    readonly id?: string;
    readonly metadata?: JsonObject;
  }

  /** Starts an Envoy with a key of its own. */
  async function start(text: string, { id = 'default.redis-1', metadata = {} }: Start = {}): Promise<EnvoyProcess> {
    const folder = mkdtempSync(join(tmpdir(), 'causeway-proxy-'));
    const { privateKey, csr } = await createWorkloadKey();
    const keyFile = join(folder, 'key.pem');
    writeFileSync(keyFile, privateKey, { mode: 0o600 });
    const bootstrap = envoyBootstrap({
      node: {
        id,
        cluster: 'redis',
        metadata: { 'causeway.io/csr': csr, 'causeway.io/key-file': keyFile, ...metadata },
      },
      controlPlanes: [{ host: '127.0.0.1', port }],
      authority: zone.authority ?? '',
      token: { text },
      protocol: 'delta',
      admin: { address: '127.0.0.1', port: 0 },
    });
    return run(folder, JSON.stringify(bootstrap));
  }

  async function run(folder: string, bootstrap: string): Promise<EnvoyProcess> {
    const file = join(folder, 'envoy.yaml');
    writeFileSync(file, bootstrap);
    const envoy = await EnvoyProcess.run(ENVOY ?? '', file, folder);
    envoys.push(envoy);
    return envoy;
  }

  const hasInbound = (envoy: EnvoyProcess): Promise<boolean> =>
    until('the listener', async () => (await envoy.ask('/listeners')).includes('inbound:127.0.0.1:16379'));

  /** The serial of the workload's certificate that an Envoy holds. */
  async function serial(envoy: EnvoyProcess): Promise<string | undefined> {
    const text = await envoy.ask('/certs');
    const { certificates = [] } = JSON.parse(text) as {
      certificates?: { cert_chain?: { serial_number: string; subject_alt_names?: { uri?: string }[] }[] }[];
    };
    const chains = certificates.flatMap((one) => one.cert_chain ?? []);
    return chains.find((one) => one.subject_alt_names?.some(({ uri }) => uri === SPIFFE_ID))?.serial_number;
  }

  /** A request of HTTP/1 to the port. */
  const ask: ZoneProgram['askXds'] = (...request) => zone.askXds(...request);

  beforeAll(async () => {
    database = await createTestDatabase();
    zone = await startZone();
    await zone.untilLeading();
    port = zone.xds.address.port;
    await zone.put('/meshes/default/meshidentities/default', {
      type: 'MeshIdentity',
      mesh: 'default',
      name: 'default',
      spec: { selector: { dataplane: { matchLabels: {} } }, provider: { type: 'Bundled', bundled: {} } },
    });
    await zone.put('/meshes/default/dataplanes/redis-1', {
      type: 'Dataplane',
      mesh: 'default',
      name: 'redis-1',
      ...REDIS,
    });
    good = (await issue({ mesh: 'default', name: 'redis-1' })).token;
  });
  afterEach(() => Promise.all(envoys.splice(0).map((envoy) => envoy.stop())));
  afterAll(async () => {
    await zone.stop();
    await database.drop();
  });

  it('gives it a listener and a certificate of its workload, again at half of its validity, and it goes on without the zone', async () => {
    const envoy = await start(good);
    await hasInbound(envoy);
    const first = await until('the certificate', () => serial(envoy));
    expect(zone.xds.proxies()).toMatchObject([{ id: 'default/redis-1', certificate: { uri: SPIFFE_ID } }]);
    await zone.stop();
    expect(await envoy.ask('/listeners')).toContain('inbound:127.0.0.1:16379');
    zone = await startZone();
    await until('it is back', () => zone.xds.proxies().length > 0);
    await hasInbound(envoy);
    const second = await until('a certificate of the zone that came back', async () => {
      const held = await serial(envoy);
      return held === first ? undefined : held;
    });
    await until('a renewed certificate', async () => (await serial(envoy)) !== second);
    expect(await envoy.stat('listener_manager.listener_create_failure')).toBe(0);
    expect(zone.xds.proxies()).toHaveLength(1);
  });

  it('admits a gRPC client by the token in its node, and an Envoy not', async () => {
    const { token } = await issue({ mesh: 'default', name: 'redis-1' });
    const ask = (userAgentName: string): DeltaClient => {
      const client = deltaClient(port, 'default.redis-1', '', zone.authority);
      const node = { id: 'default.redis-1', userAgentName, metadata: { 'causeway.io/token': token } };
      client.send({ node, typeUrl: RESOURCE_TYPES.listener, resourceNamesSubscribe: ['nobody.mesh.local'] });
      return client;
    };
    const grpc = ask('gRPC Node Pure JS');
    expect((await grpc.response(0)).resources.map(({ name }) => name)).toEqual(['nobody.mesh.local']);
    await grpc.close();
    expect((await ask('envoy').end()).details).toContain('authorization');
  });

  it('ends the stream of a proxy whose token is revoked, or whose Dataplane is deleted', async () => {
    const { token, id } = await issue({ mesh: 'default', name: 'redis-1' });
    const envoy = await start(token);
    await hasInbound(envoy);
    await tokens().revoke(id);
    await until('no stream', () => zone.xds.proxies().length === 0);
    // It continues to serve what it holds.
    expect(await envoy.ask('/listeners')).toContain('inbound:127.0.0.1:16379');
    await envoy.stop();
    await zone.put('/meshes/default/dataplanes/web-1', {
      type: 'Dataplane',
      mesh: 'default',
      name: 'web-1',
      networking: { address: '127.0.0.1', inbound: [{ ...INBOUND, port: 16380 }] },
    });
    const web = await issue({ mesh: 'default', name: 'web-1' });
    await start(web.token, { id: 'default.web-1' });
    await until('its stream', () => zone.xds.proxies().some((proxy) => proxy.id === 'default/web-1'));
    await zone.delete('/meshes/default/dataplanes/web-1');
    await until('no stream', () => zone.xds.proxies().length === 0);
  });

  it('starts one by POST /bootstrap as kuma-dp does: its Dataplane is registered', async () => {
    const { token } = await issue({ mesh: 'default', name: 'kuma-1', services: ['redis'] });
    const outbound = [{ port: 26379, tags: { 'kuma.io/service': 'redis' } }];
    const networking = { ...REDIS.networking, outbound };
    const dataplane = { type: 'Dataplane', mesh: 'default', name: 'kuma-1', networking };
    const asked = {
      mesh: 'default',
      name: 'kuma-1',
      proxyType: 'dataplane',
      dataplaneToken: token,
      dataplaneResource: JSON.stringify(dataplane),
      version: { kumaDp: { version: '2.14.3' }, envoy: { version: '1.40.0' } },
      features: ['feature-delta-grpc'],
      dynamicMetadata: { team: 'a' },
      caCert: zone.authority,
    };
    const answer = await ask('POST', '/bootstrap', asked);
    expect(answer).toMatchObject({ status: 200 });
    const { bootstrap, kumaSidecarConfiguration } = JSON.parse(answer.text) as {
      bootstrap: string;
      kumaSidecarConfiguration: JsonObject;
    };
    expect(kumaSidecarConfiguration).toMatchObject({ networking: { address: '127.0.0.1' } });
    const text = Buffer.from(bootstrap, 'base64').toString();
    expect(parse(text)).toMatchObject({
      node: { id: 'default.kuma-1', cluster: 'redis', metadata: { dynamicMetadata: { team: 'a' } } },
      dynamic_resources: { ads_config: { api_type: 'DELTA_GRPC' } },
    });
    const envoy = await run(mkdtempSync(join(tmpdir(), 'causeway-proxy-')), text);
    await hasInbound(envoy);
    // Its key was made by the control plane, as Kuma's are.
    await until('its certificate', async () => (await envoy.ask('/certs')).includes('/workload/kuma-1'));
    await until('its outbound', async () => (await envoy.ask('/listeners')).includes('explicit:127.0.0.1:26379'));
    const read = () => adminFetch(`${zone.restUrl}/meshes/default/dataplanes/kuma-1`).then(({ status }) => status);
    expect(await read()).toBe(200);
    await envoy.stop();
    registeredGoes = until('the Dataplane is gone', async () => (await read()) === 404);
    registeredGoes.catch(() => undefined);
  });

  it('is what causeway proxies bootstrap writes the files of an Envoy for, readable by their owner only', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'causeway-proxy-'));
    const ca = join(folder, 'ca.pem');
    writeFileSync(ca, zone.authority ?? '');
    const out = join(folder, 'redis-1');
    const at = ['--xds', `127.0.0.1:${port}`, '--xds-ca-file', ca, '-d', out];
    const ran = await runAsAdmin(zone.restUrl, ['proxies', 'bootstrap', 'default/redis-1', ...at]);
    expect(ran).toMatchObject({ code: 0, err: '' });
    expect(ran.out).toContain(`envoy -c ${out}/envoy.yaml`);
    for (const file of ['key.pem', 'token.json', 'envoy.yaml'])
      expect(statSync(join(out, file)).mode & 0o777).toBe(0o600);
    const envoy = await EnvoyProcess.run(ENVOY ?? '', join(out, 'envoy.yaml'), folder);
    envoys.push(envoy);
    await hasInbound(envoy);
    await until('its certificate', () => serial(envoy));
  });

  it.each<[string, string | undefined, string, RegExp]>([
    ['none', undefined, 'default.redis-1', /UNAUTHENTICATED: metadata "authorization": must have a dataplane token/],
    ['no token', 'nonsense', 'default.redis-1', /UNAUTHENTICATED: the dataplane token cannot be read/],
    ['of another Dataplane', 'other', 'default.redis-1', /PERMISSION_DENIED: .*claim "Name" is "web-1"/],
    ['of another mesh', 'good', 'shop.redis-1', /of mesh "default", the proxy of "shop"/],
    ['of a Dataplane that is not there', 'any', 'default.missing', /NOT_FOUND: there is no Dataplane "missing"/],
  ])('refuses a token by name: %s', async (_, which, id, wanted) => {
    const made: Record<string, string> = {
      good,
      other: (await issue({ mesh: 'default', name: 'web-1' })).token,
      any: (await issue({ mesh: 'default', isKuma: true })).token,
    };
    const client = deltaClient(port, id, which === undefined ? '' : (made[which] ?? which), zone.authority);
    client.send({ typeUrl: RESOURCE_TYPES.cluster });
    expect((await client.end()).message).toMatch(wanted);
    await client.close();
  });

  it('answers HTTP/1, bytes that are nothing, and bad requests for a bootstrap by name', async () => {
    expect(await ask('GET', '/')).toMatchObject({
      status: 404,
      text: expect.stringContaining('serves proxies') as string,
    });
    expect(await ask('GET', '/bootstrap')).toMatchObject({ status: 405 });
    expect(await ask('POST', '/bootstrap', '{')).toMatchObject({ status: 400 });
    expect(await ask('POST', '/bootstrap', { name: 7, features: 'all' })).toMatchObject({
      status: 400,
      text: expect.stringMatching(/name: .*features: /s) as string,
    });
    expect(await ask('POST', '/bootstrap', { name: 'redis-1' })).toMatchObject({ status: 422 });
    expect(await ask('POST', '/bootstrap', { name: 'redis-1', dataplaneToken: 'x' })).toMatchObject({ status: 401 });
    expect(
      await ask('POST', '/bootstrap', {
        name: 'no',
        dataplaneToken: (await issue({ mesh: 'default', isKuma: true })).token,
      }),
    ).toMatchObject({ status: 404 });
    expect(
      await ask('POST', '/bootstrap', { name: 'redis-1', dataplaneToken: good }, { host: 'elsewhere:1' }),
    ).toMatchObject({
      status: 400,
      text: expect.stringContaining('does not name "elsewhere"') as string,
    });
    expect(await ask('POST', '/bootstrap', 'x'.repeat(600_000))).toMatchObject({ status: 413 });
  });

  it('takes TLS without a server name, and ends connections of garbage', async () => {
    const said = async (bytes: string, ...ALPNProtocols: string[]): Promise<string> => {
      const socket = connectTls({
        host: '127.0.0.1',
        port,
        ca: zone.authority ?? '',
        checkServerIdentity: () => undefined,
        ALPNProtocols,
      });
      await once(socket, 'secureConnect');
      let text = '';
      socket.on('data', (part) => (text += part.toString('latin1')));
      socket.on('error', () => undefined);
      const over = once(socket, 'close');
      socket.write(bytes);
      await over;
      return text;
    };
    expect(await said('\u0001\u0002\u0003\u0004 nothing\r\n\r\n')).toMatch(/^HTTP\/1.1 400/);
    // A preface of HTTP/2 and garbage after it: GOAWAY, then the end.
    expect(await said(`PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n${'\u00ff'.repeat(64)}`, 'h2')).not.toContain('HTTP');
    expect(await said('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')).toContain('Missing ALPN');
    const plain = await new Promise<string>((resolve) => {
      const call = httpRequest({ host: '127.0.0.1', port }, () => resolve('an answer'));
      call.on('error', (error) => resolve(error.message)).end();
    });
    expect(plain).not.toBe('an answer');
  });

  it('removes the Dataplane that a proxy registered 10 s after it', async () => {
    if (!registeredGoes) throw new Error('this goes on where the test of POST /bootstrap ended');
    expect(await registeredGoes).toBe(true);
  });
});
