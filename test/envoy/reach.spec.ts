import { writeFileSync } from 'node:fs';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject, Resource } from '@causeway/resources';
import { freePort } from '../../scripts/lib/ports.mjs';
import { loopbackBlock } from '../support/loopback-networks';
import { say, tlsEcho, type ServiceProcess } from '../support/mesh-processes';
import { TestAuthority, type TestCertificate } from '../support/test-authority';
import { PROXY_KINDS, TrafficPlane, LOOPBACK_HOSTS } from '../support/traffic-plane';
import { sketch } from '../support/traffic-zone';
import { until } from '../support/until';

const host = loopbackBlock();
const PORT = 6379;
const hasIPv6 = Object.values(networkInterfaces()).some((found) => found?.some(({ address }) => address === '::1'));
const GROUP = { vip: host(7), name: 'kri_mzsvc_default___redis_6379' };
const NAMED = { vip: host(8), name: 'kri_msvc_default_north__named_6379' };
const OUTSIDE = { vip: host(9), name: 'kri_extsvc_default___api_443' };
const ADDRESSES: Readonly<Record<string, string>> = { west: host(11), east: host(12), north: host(13) };
const vip = (ip: string): { readonly status: JsonObject } => ({ status: { vip: { ip } } });

/** One client's proxy in west; TLS servers of the test stand in for the other proxies. */
describe.each(PROXY_KINDS)('where a client in west is led, by %s,', (kind) => {
  let west: TrafficPlane;
  let authority: TestAuthority;
  let outside: TestAuthority;
  let sixPort = 0;
  const servers = new Map<string, ServiceProcess>();

  const redis = (zone: string, state = 'Available'): Resource =>
    sketch(
      'MeshService',
      'redis',
      {
        selector: { dataplaneTags: { app: 'redis' } },
        ports: [{ port: PORT }],
        identities: [{ type: 'SpiffeID', value: west.spiffeId('redis') }],
        state,
      },
      { zone },
    );
  const dataplane = (state: string): Resource =>
    sketch('Dataplane', 'redis', {
      networking: { address: ADDRESSES['west'] ?? '', inbound: [{ port: PORT, state, tags: { app: 'redis' } }] },
    });
  const entrance = (zone: string, address = ADDRESSES[zone] ?? ''): Resource =>
    sketch('MeshZoneAddress', 'in', { address, port: PORT }, { zone });
  const zone = (name: string, policy?: string): Resource =>
    sketch('Zone', name, {}, policy === undefined ? {} : { status: { lost: { policy, since: '' } } });
  const group = (): Resource => {
    const meshServices = ['west', 'east', 'north'].map((each) => ({
      name: 'redis',
      namespace: 'default',
      zone: each,
      mesh: 'default',
    }));
    const selector = { meshService: { matchLabels: { a: 'b' } } };
    const status = { ...vip(GROUP.vip).status, meshServices };
    return sketch('MeshMultiZoneService', 'redis', { selector, ports: [{ port: PORT }] }, { status });
  };
  const external = (spec: JsonObject): Resource =>
    sketch('MeshExternalService', 'api', { match: { port: 443 }, ...spec }, { zone: '', ...vip(OUTSIDE.vip) });

  /** Returns the servers that answer 8 connections, one after the other. */
  async function answerers(at = GROUP.vip, port = PORT): Promise<readonly string[]> {
    const found = new Set<string>();
    for (let i = 0; i < 8; i++) found.add((await say(at, port, 'x')).replace(/[(:].*$/, ''));
    return [...found].sort();
  }
  const ledTo = (...names: readonly string[]): Promise<boolean> =>
    until(`answers of ${names.join(', ')}`, async () => (await answerers()).join() === names.join());

  async function serve(name: string): Promise<void> {
    const { chain, key } = await authority.issue({ uri: west.spiffeId('redis') });
    const options = { cert: chain, key, ca: authority.certificate, requestCert: true };
    servers.set(name, await tlsEcho(name, options, ADDRESSES[name] ?? '', PORT));
  }

  beforeAll(async () => {
    west = await TrafficPlane.start('west', LOOPBACK_HOSTS);
    authority = west.authority;
    outside = await TestAuthority.create('outside');
    west.state.put(west.trust(), redis('west'), redis('east'), redis('north'), dataplane('Ready'), group());
    west.state.put(zone('east'), zone('north'), entrance('east'), entrance('north'));
    await Promise.all(['west', 'east', 'north'].map(serve));
    const systemAuthorities = join(tmpdir(), `causeway-authorities-${process.pid}.pem`);
    writeFileSync(systemAuthorities, outside.certificate);
    sixPort = await freePort();
    const listed = new Set([GROUP.name, NAMED.name, OUTSIDE.name, `kri_msvc_default_west__six_${sixPort}`]);
    await west.proxy(
      kind,
      'client',
      { mesh: 'default', listed, capture: { type: 'bind' }, systemAuthorities },
      'client',
    );
  });
  afterAll(async () => {
    await west.stop();
    await Promise.all([...servers.values()].map((one) => one.stop()));
  });
  afterEach(() => expect(west.problems()).toEqual([]));

  it('this zone first; other zones while it is not ready; back', async () => {
    await ledTo('west');
    west.state.put(dataplane('NotReady'));
    await ledTo('east', 'north');
    west.state.put(dataplane('Ready'));
    await ledTo('west');
  });

  it('a process that is killed is left before anybody says so, and is back after it is', async () => {
    await servers.get('west')?.stop();
    await ledTo('east', 'north');
    await serve('west');
    await ledTo('west');
  });

  it('a zone with no healthy instance gets none; without any zone connections end at once', async () => {
    west.state.put(dataplane('NotReady'), redis('east', 'Unavailable'));
    await ledTo('north');
    west.state.put(redis('north', 'Unavailable'));
    await ledTo('');
    west.state.put(redis('east'), redis('north'));
    await ledTo('east', 'north');
  });

  it('a lost zone is kept, comes last, or gets nothing, as its mesh says', async () => {
    west.state.put(zone('east', 'keep'));
    await ledTo('east', 'north');
    west.state.put(zone('east', 'depreferred'));
    await ledTo('north');
    west.state.put(zone('north', 'withdraw'));
    await ledTo('east');
    west.state.put(zone('east', 'withdraw'));
    await ledTo('');
    west.state.put(zone('east'), zone('north'), dataplane('Ready'));
    await ledTo('west');
  });

  it('host names of ingresses are resolved for the proxy', async () => {
    const named = (of: string): Resource => {
      const identities = [{ type: 'SpiffeID', value: west.spiffeId('redis') }];
      const selector = { dataplaneTags: { app: 'redis' } };
      return sketch(
        'MeshService',
        'named',
        { selector, ports: [{ port: PORT }], identities },
        { zone: of, ...vip(NAMED.vip) },
      );
    };
    const { chain, key } = await authority.issue({ uri: west.spiffeId('redis') });
    const options = { cert: chain, key, ca: authority.certificate, requestCert: true };
    const local = await tlsEcho('by name', options, '127.0.0.1');
    servers.set('by name', local);
    west.state.put(
      named('north'),
      sketch('MeshZoneAddress', 'in', { address: 'localhost', port: local.port }, { zone: 'north' }),
    );
    await until('north by its name', async () => (await answerers(NAMED.vip)).join() === 'by name');
    west.state.put(
      sketch('MeshZoneAddress', 'in', { address: ADDRESSES['north'] ?? '', port: PORT }, { zone: 'north' }),
    );
    await until('north by its address', async () => (await answerers(NAMED.vip)).join() === 'north');
  });

  (hasIPv6 ? it : it.skip)('addresses of IPv6 are as good as others', async () => {
    const { chain, key } = await authority.issue({ uri: west.spiffeId('redis') });
    const options = { cert: chain, key, ca: authority.certificate, requestCert: true };
    const server = await tlsEcho('six', options, '::1');
    servers.set('six', server);
    const tags = { app: 'six' };
    west.state.put(
      sketch('Dataplane', 'six', { networking: { address: '::1', inbound: [{ port: server.port, tags }] } }),
      sketch(
        'MeshService',
        'six',
        {
          selector: { dataplaneTags: tags },
          ports: [{ port: sixPort, targetPort: server.port }],
          identities: [{ type: 'SpiffeID', value: west.spiffeId('redis') }],
        },
        vip('::1'),
      ),
    );
    await until('an answer', async () => (await say('::1', sixPort, 'x')).startsWith('six('));
  });

  describe('a server outside the mesh', () => {
    let certificate: TestCertificate;
    const secured = (port: number, spec: JsonObject = {}): Resource =>
      external({
        endpoints: [{ address: 'localhost', port }],
        tls: { enabled: true, verification: { caCert: { inlineString: outside.certificate } }, ...spec },
      });
    const secret = (name: string, text: string): Resource =>
      sketch(
        'Secret',
        name,
        { data: base64(text), usedBy: [{ kind: 'MeshExternalService', name: 'api' }] },
        { zone: '' },
      );
    const answered = (answer: string): Promise<boolean> =>
      until(answer, async () => (await say(OUTSIDE.vip, 443, 'x')) === answer);

    beforeAll(async () => (certificate = await outside.issue({ dns: 'localhost' })));

    it('is entered by TLS with its name, by the priorities of its endpoints, and left while it refuses', async () => {
      const { chain: cert, key } = certificate;
      const [first, second] = await Promise.all([
        tlsEcho('first', { cert, key }, '127.0.0.1'),
        tlsEcho('second', { cert, key }, '127.0.0.1'),
      ]);
      servers.set('first', first).set('second', second);
      const endpoints = [
        { address: 'localhost', port: second.port, priority: 7 },
        { address: 'localhost', port: first.port },
      ];
      const tls = { enabled: true, verification: { caCert: { inlineString: outside.certificate } } };
      west.state.put(external({ endpoints, tls }));
      await answered('first(localhost):x');
      await first.stop();
      await answered('second(localhost):x');
    });

    it.each<[string, () => JsonObject, boolean]>([
      ['by the authorities of the machine', () => ({}), true],
      ['not by the mesh’s authority', () => ({ caCert: { inlineString: west.authority.certificate } }), false],
      ['by an authority in base64', () => ({ caCert: { inline: base64(outside.certificate) } }), true],
      ['by an authority in a Secret', () => ({ caCert: { secret: 'outside' } }), true],
      ['not by another name', () => ({ serverName: 'other.example' }), false],
      ['by another name where names do not count', () => ({ serverName: 'other.example', mode: 'SkipSAN' }), true],
      ['by an alternative name', () => ({ subjectAltNames: [{ type: 'Prefix', value: 'local' }] }), true],
      ['not without its alternative name', () => ({ subjectAltNames: [{ value: 'other.example' }] }), false],
      [
        'by anybody where nothing counts',
        () => ({ mode: 'SkipAll', caCert: { inlineString: west.authority.certificate } }),
        true,
      ],
    ])('is believed %s', async (_, verification, isBelieved) => {
      const { chain: cert, key } = certificate;
      const server = await tlsEcho('api', { cert, key }, '127.0.0.1');
      servers.set('api', server);
      west.state.put(secret('outside', outside.certificate));
      west.state.put(secured(server.port, { verification: verification() }));
      await until('the proxy', () => west.isSettled('client'));
      const answer = await until('an end', async () => {
        const text = await say(OUTSIDE.vip, 443, 'x');
        return isBelieved === text.startsWith('api(') ? { text } : undefined;
      });
      expect(answer.text.startsWith('api(')).toBe(isBelieved);
      await server.stop();
    });

    it('gets no version that it does not speak', async () => {
      const { chain: cert, key } = certificate;
      const server = await tlsEcho('api', { cert, key, maxVersion: 'TLSv1.2' }, '127.0.0.1');
      servers.set('old', server);
      west.state.put(secured(server.port));
      await answered('api(localhost):x');
      west.state.put(secured(server.port, { version: { min: 'TLS13' } }));
      await answered('');
    });

    it('that asks for a certificate gets nothing: the key would be for an egress', async () => {
      const own = await outside.issue({ dns: 'client' });
      west.state.put(secret('own-key', own.key));
      const clientCert = { clientCert: { inlineString: own.chain }, clientKey: { secret: 'own-key' } };
      west.state.put(secured(1, { verification: { caCert: { inlineString: outside.certificate }, ...clientCert } }));
      await until('the problem', () => west.problems().some((each) => each.includes('needs a ZoneEgress')));
      expect(await say(OUTSIDE.vip, 443)).toBe('');
      west.state.put(secured(1));
      await until('no problem', () => west.problems().length === 0);
    });

    it('is shown at its clients where it cannot be done, and gets nothing', async () => {
      west.state.put(secured(1, { verification: { caCert: { secret: 'nobody' } } }));
      await until('the problem', () => west.problems().some((each) => each.includes('nobody')));
      expect(await say(OUTSIDE.vip, 443)).toBe('');
      west.state.put(secured(1));
      await until('no problem', () => west.problems().length === 0);
    });
  });
});

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}
