/*
 * The egress of a zone: who may call and what it reaches, limits per source, several of them, its identity, what of
 * it cannot be served. Also: test/envoy/mesh-mtls.spec.ts, libs/xds-translation/src/dataplane/zone-listeners.spec.ts,
 * libs/controllers/src/trust/trust-acceptance.spec.ts, test/envoy/zone-proxies.spec.ts.
 */
import type { JsonObject, Resource } from '@causeway/resources';
import type { ConnectionOptions } from 'node:tls';
import type { EnvoyView } from '@causeway/xds-translation';
import { ENVOY, type EnvoyProcess } from '../support/envoy-process';
import { loopbackBlock } from '../support/loopback-networks';
import { ask, echo, holdTls, httpService, say, sayTls, tlsEcho, type ServiceProcess } from '../support/mesh-processes';
import { TestAuthority, type TestCertificate } from '../support/test-authority';
import { LOOPBACK_HOSTS, TrafficPlane } from '../support/traffic-plane';
import { sketch } from '../support/traffic-zone';
import { until } from '../support/until';

const host = loopbackBlock();
const FIRST = { address: host(100), port: 10002 };
const SECOND = { address: host(101), port: 10002 };
const NARROW = { address: host(102), port: 10002 };
/** Sources of which not all have the same limits. */
const SOURCES = Array.from({ length: 16 }, (_, i) => host(200 + i));
const CONNECTIONS = 3;
const API = { vip: host(7), port: 443, name: 'kri_extsvc_default___api.example_443' };
const PLAIN = { vip: host(8), port: 6379 };
const ASKING = { vip: host(10), port: 443 };
const WEB = { vip: host(9), port: 8080 };
const EGRESS_ID = 'spiffe://default.west.mesh.local/zone-egress';

/** One zone: a client, the egresses, and servers outside the mesh. */
(ENVOY === undefined ? describe.skip : describe)('the egress of a zone, by a real Envoy,', () => {
  let west: TrafficPlane;
  let outside: TestAuthority;
  let client: EnvoyProcess;
  const egresses: EnvoyProcess[] = [];
  let caller: TestCertificate;
  let [api, plain, web]: readonly ServiceProcess[] = [];

  const egress = (name: string, at: typeof FIRST, status: JsonObject = {}): Resource =>
    sketch('ZoneEgress', name, { networking: { ...at } }, { zone: 'west', status });
  /** Faults that proxies report about their configuration. */
  let whileNothingLeaves: readonly string[] | undefined;
  const external = (name: string, { vip, port }: typeof PLAIN, spec: JsonObject, protocol = 'tcp'): Resource =>
    sketch(
      'MeshExternalService',
      name,
      { match: { port, protocol }, ...spec },
      { zone: '', status: { vip: { ip: vip } } },
    );
  const mesh = (name: string, narrowed = 0): Resource => {
    const parametersRef = { group: 'causeway.io', kind: 'MeshParameters', name: 'p' };
    return sketch('Mesh', name, { parametersRef }, { status: { access: { narrowed } } });
  };
  const settings = (spec: JsonObject): Resource => sketch('MeshParameters', 'p', spec);
  const identity = (of: string): Resource =>
    sketch(
      'MeshIdentity',
      'identity',
      { selector: { dataplane: { matchLabels: {} } }, provider: { type: 'Bundled' } },
      { mesh: of, zone: '' },
    );

  /** Returns the answer of the egress `at` to a caller that connects as proxies do. */
  const enter = (servername: string, options: ConnectionOptions = {}, at = FIRST): Promise<string> =>
    sayTls({ host: at.address, port: at.port, servername, cert: caller.chain, key: caller.key, ...options });
  /** Returns the name of the answering server; a resumed TLS session has no server name. */
  const who = (text: string): string => text.replace(/[(:].*$/, '');
  const answers = (...wanted: readonly string[]): Promise<boolean> =>
    until(`answers ${wanted.join(', ')}`, async () => {
      const found = await Promise.all([say(API.vip, API.port), say(PLAIN.vip, PLAIN.port)]);
      return found.map(who).join() === wanted.join();
    });
  const served = ['api', 'plain'] as const;
  /** The server name of the API at the egress. */
  const apiName = (): string => west.source.model.destination(API.name)?.egress?.serverName ?? '';
  const first = (): EnvoyProcess => egresses[0] ?? client;

  async function startEgress(name: string, at: typeof FIRST, more: Partial<EnvoyView> = {}): Promise<EnvoyProcess> {
    const { chain, key } = await west.authority.issue({ uri: EGRESS_ID });
    const certificate = { chain, key: { pem: key } };
    const envoy = await west.envoy(name, {
      mesh: '',
      listed: new Set<string>(),
      ...more,
      egress: { at, identity: (of) => (of === 'default' ? certificate : undefined) },
    });
    return envoy;
  }

  beforeAll(async () => {
    west = await TrafficPlane.start('west', LOOPBACK_HOSTS);
    outside = await TestAuthority.create('outside');
    caller = await west.authority.issue({ uri: west.spiffeId('client') });
    const { chain: cert, key } = await outside.issue({ dns: 'api.example' });
    [api, plain, web] = await Promise.all([
      tlsEcho('api', { cert, key }, '127.0.0.1'),
      echo('plain'),
      httpService('web'),
    ]);
    const tls = {
      enabled: true,
      verification: { serverName: 'api.example', caCert: { inlineString: outside.certificate } },
    };
    const at = (of: ServiceProcess | undefined) => ({ endpoints: [{ address: '127.0.0.1', port: of?.port ?? 1 }] });
    west.state.put(mesh('default'), settings({}), west.trust(''), identity('default'), egress('first', FIRST));
    egresses.push(await startEgress('first', FIRST));
    await until('the egress has nothing to serve', () => west.isSettled('first'));
    whileNothingLeaves = west.problems();
    west.state.put(
      external('api.example', API, { ...at(api), tls }),
      external('plain', PLAIN, at(plain)),
      external('web', WEB, at(web), 'http'),
    );
    client = await west.envoy('client', { mesh: 'default', listed: 'all', capture: { type: 'bind' } }, 'client');
  });
  afterAll(async () => {
    await west.stop();
    await Promise.all([api, plain, web].map(async (one) => one?.stop()));
  });
  afterEach(() => expect(west.problems()).toEqual([]));

  it('starts before a service outside the mesh is there', () => expect(whileNothingLeaves).toEqual([]));

  it('is the way to servers outside the mesh: it begins their TLS, and the client knows neither address nor authority', async () => {
    await until('its name', async () => (await say(API.vip, API.port)) === 'api(api.example):hello');
    await answers(...served);
    expect(await until('web', async () => (await ask(WEB.vip, WEB.port, '/a')).status === 200)).toBe(true);
    expect(await first().stat('tcp.egress.downstream_cx_total')).toBeGreaterThanOrEqual(3);
    const known = await client.ask('/config_dump?include_eds');
    expect(known).toContain(FIRST.address);
    expect(known).not.toContain(`"port_value": ${api?.port}`);
    expect(known).not.toContain('api.example"');
  });

  it('shows a server the certificate that it asks for, by a key that no client is given', async () => {
    const own = await outside.issue({ dns: 'west' });
    const { chain: cert, key } = await outside.issue({ dns: 'asking.example' });
    const asking = await tlsEcho('asking', { cert, key, ca: outside.certificate, requestCert: true }, '127.0.0.1');
    const verification = {
      serverName: 'asking.example',
      caCert: { inlineString: outside.certificate },
      clientCert: { inlineString: own.chain },
      clientKey: { secret: 'own-key' },
    };
    const usedBy = [{ kind: 'MeshExternalService', name: 'asking' }];
    const data = Buffer.from(own.key).toString('base64');
    const service = external('asking', ASKING, {
      endpoints: [{ address: '127.0.0.1', port: asking.port }],
      tls: { enabled: true, verification },
    });
    west.state.put(sketch('Secret', 'own-key', { data, usedBy }, { zone: '' }), service);
    await until('its name', async () => (await say(ASKING.vip, ASKING.port)) === 'asking(asking.example):hello');
    expect(await client.ask('/config_dump?include_eds')).not.toContain(own.chain.split('\n')[2]);
    west.state.delete(service);
    await asking.stop();
  });

  it.each<[string, () => Promise<string>, RegExp]>([
    ['a server name that no service has', () => enter(apiName().replace('api', 'no')), /no_route/],
    ['one of a cluster of its own', () => enter(apiName().replace(/^[^.]+/, 'ads_cluster')), /no_route/],
    ['one of another mesh', () => enter(apiName().replace('.default-', '.other-')), /no_filter_chain_match/],
    ['one without the mesh', () => enter('local'), /no_filter_chain_match/],
    ['no TLS', () => say(FIRST.address, FIRST.port), /no_filter_chain_match/],
    ['no certificate', () => enter(apiName(), { cert: undefined, key: undefined }), /ssl.fail_verify_no_cert$/],
    [
      'a certificate of another authority',
      async () => {
        const { chain: cert, key } = await outside.issue({ uri: west.spiffeId('client') });
        return enter(apiName(), { cert, key });
      },
      /ssl.fail_verify_error$/,
    ],
  ])('refuses %s, counts it, and dials nothing', async (_, call, counter) => {
    const before = [await first().sum(counter), api?.accepted(), plain?.accepted()];
    expect(await call()).toBe('');
    const [refused = 0, ...dialled] = before;
    await until('the counter', async () => (await first().sum(counter)) > refused);
    expect([api?.accepted(), plain?.accepted()]).toEqual(dialled);
  });

  it('takes who may call only: what narrows access closes it, what widens it opens it', async () => {
    expect(who(await enter(apiName()))).toBe('api');
    west.state.put(settings({ defaultAccess: 'Deny' }), mesh('default', 1));
    await answers('', '');
    west.state.put(settings({}), mesh('default', 1));
    await answers(...served);
  });

  it('one source does not take the connections of others, and what it may not have is counted', async () => {
    const narrow = await startEgress('narrow', NARROW, { sourceLimits: { connections: CONNECTIONS, perSecond: 5 } });
    const { chain: cert, key } = caller;
    const options = { host: NARROW.address, port: NARROW.port, servername: apiName(), cert, key };
    const enter = (source: string) => holdTls(source, options);
    const [greedy = '', ...others] = SOURCES;
    await until('the egress is settled', () => west.isSettled('narrow'));
    const held = await Promise.all(Array.from({ length: 40 }, () => enter(greedy)));
    expect(held.filter(Boolean)).toHaveLength(CONNECTIONS);
    const counters = ['connection_limit.egress.limited_connections', 'local_rate_limit.egress.rate_limited'];
    const [limited = 0, rated = 0] = await Promise.all(counters.map((name) => narrow.stat(name)));
    expect([limited > 0, rated > 0, limited + rated]).toEqual([true, true, 40 - CONNECTIONS]);
    // Sources are distinguished by a hash: few share the group of another one.
    const served = await Promise.all(others.map(enter));
    expect(served.filter(Boolean).length).toBeGreaterThan(others.length / 2);
    for (const socket of [...held, ...served]) socket?.destroy();
    await narrow.stop();
  });

  it('while the settings of the mesh cannot be read it goes on as before', async () => {
    west.state.delete(settings({}));
    await until('the egress is settled', () => west.isSettled('first'));
    await answers(...served);
    west.state.put(settings({}));
  });

  it('of several the others serve where one is gone; without any nothing goes out, and nothing around it', async () => {
    egresses.push(await startEgress('second', SECOND));
    west.state.put(egress('second', SECOND));
    const taken = async (of: number) => (await egresses[of]?.stat('tcp.egress.downstream_cx_total')) ?? 0;
    await until('the second', async () => {
      await say(PLAIN.vip, PLAIN.port);
      return (await taken(1)) > 0;
    });
    const withdrawn = { conditions: [{ type: 'Withdrawn', status: 'True' }] };
    west.state.put(egress('first', FIRST, withdrawn));
    await until('the client is settled', () => west.isSettled('client'));
    const before = [await taken(0), await taken(1)];
    const answers = await Promise.all(Array.from({ length: 12 }, () => say(PLAIN.vip, PLAIN.port)));
    expect(new Set(answers)).toEqual(new Set(['plain:hello']));
    expect([await taken(0), await taken(1)]).toEqual([before[0], (before[1] ?? 0) + 12]);
    // If all are withdrawn, they are used all the same.
    west.state.put(egress('second', SECOND, withdrawn));
    await until('the first again', async () => {
      await say(PLAIN.vip, PLAIN.port);
      return (await taken(0)) > (before[0] ?? 0);
    });
    west.state.put(egress('first', FIRST), egress('second', SECOND));
    await first().stop();
    const found = await Promise.all(Array.from({ length: 30 }, () => say(PLAIN.vip, PLAIN.port)));
    expect(new Set(found)).toEqual(new Set(['plain:hello']));
    await egresses[1]?.stop();
    const dialled = plain?.accepted();
    for (let i = 0; i < 5; i++) expect(await say(PLAIN.vip, PLAIN.port)).toBe('');
    expect(plain?.accepted()).toBe(dialled);
    // One of them is not left alone for a while: whichever comes back first is used at once.
    expect(await client.sum(/plain.*outlier_detection.ejections_active$/)).toBeLessThan(2);
  });

  it('is the way as long as one is declared: then proxies go to the servers themselves', async () => {
    west.state.delete(egress('first', FIRST));
    await until('the client is settled', () => west.isSettled('client'));
    expect(await say(PLAIN.vip, PLAIN.port)).toBe('');
    west.state.delete(egress('second', SECOND));
    await answers(...served);
    west.state.put(egress('first', FIRST));
    await until('no way around', async () => (await say(PLAIN.vip, PLAIN.port)) === '');
    west.state.put(settings({ mtls: 'Off' }));
    await answers(...served);
  });
});
