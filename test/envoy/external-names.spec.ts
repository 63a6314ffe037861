import { parseDialRules } from '@causeway/ipam';
import type { JsonObject, Resource } from '@causeway/resources';
import { systemClock } from '@causeway/runtime';
import { DialledHosts, NameResolver, SystemLookup } from '@causeway/xds-translation';
import { a, answerTo, FakeUpstream } from '../dns/fake-upstream';
import type { BuiltinProxy } from '../support/builtin-proxy';
import type { EnvoyProcess } from '../support/envoy-process';
import { loopbackBlock } from '../support/loopback-networks';
import { echo, say, tlsEcho, type ServiceProcess } from '../support/mesh-processes';
import { TestAuthority } from '../support/test-authority';
import { PROXY_KINDS, TrafficPlane } from '../support/traffic-plane';
import { sketch } from '../support/traffic-zone';
import { until } from '../support/until';

const host = loopbackBlock();
const EGRESS = { address: host(100), port: 10002 };
/** Addresses outside of the mesh: the only ones that may be dialled. */
const [OUTSIDE, OTHER] = [host(50), host(51)];
const EGRESS_ID = 'spiffe://default.west.mesh.local/zone-egress';
const NAMES = { good: host(7), lo: host(8), meta: host(9), tls: host(10) };

/** A client without an agent, as kuma-dp is one, with and without an egress; the names of services outside are resolved by the zone. */
describe.each(PROXY_KINDS)('names of services outside the mesh, by %s,', (kind) => {
  let west: TrafficPlane;
  let upstream: FakeUpstream;
  let resolver: NameResolver;
  let client: EnvoyProcess | BuiltinProxy;
  let outside: TestAuthority;
  /** Addresses of each name now. */
  const leads = new Map<string, readonly string[]>();
  let [good, other, daemon, tls]: readonly ServiceProcess[] = [];

  const external = (name: keyof typeof NAMES, port: number, spec: JsonObject = {}): Resource =>
    sketch(
      'MeshExternalService',
      name,
      { match: { port: 80 }, endpoints: [{ address: `${name}.example`, port }], ...spec },
      { zone: '', status: { vip: { ip: NAMES[name] } } },
    );
  const answers = (name: keyof typeof NAMES, want: string): Promise<unknown> =>
    until(`${name} answers ${want}`, async () => (await say(NAMES[name], 80)) === want);
  const withEgress = async (): Promise<void> => {
    const own = await west.authority.issue({ uri: EGRESS_ID });
    const certificate = { chain: own.chain, key: { pem: own.key } };
    west.state.put(sketch('ZoneEgress', 'first', { networking: { ...EGRESS } }, { zone: 'west' }));
    await west.proxy(kind, 'first', {
      mesh: '',
      listed: new Set<string>(),
      egress: { at: EGRESS, identity: (of) => (of === 'default' ? certificate : undefined) },
    });
  };

  beforeAll(async () => {
    upstream = await new FakeUpstream().start();
    upstream.behaviour = (heard) => {
      const found = heard.question.type === 'A' ? (leads.get(heard.question.name) ?? []) : [];
      return [
        answerTo(
          heard,
          found.map((data) => ({ ...a(heard, data), ttl: 1 })),
        ),
      ];
    };
    const lookup = new SystemLookup({ servers: [upstream.address], hostsFile: '/dev/null' });
    resolver = new NameResolver(lookup, systemClock, { floor: 200 });
    const parsed = parseDialRules(['default', OUTSIDE, OTHER]);
    if (!parsed.ok) throw new Error(parsed.errors.join());
    west = await TrafficPlane.start('west', new DialledHosts(parsed.rules, resolver));
    outside = await TestAuthority.create('outside');
    const { chain: cert, key } = await outside.issue({ dns: 'tls.example' });
    good = await echo('good', OUTSIDE);
    other = await echo('other', OTHER, good.port);
    daemon = await echo('daemon', '127.0.0.1', good.port);
    tls = await tlsEcho('tls', { cert, key }, OUTSIDE);
    leads.set('good.example', [OUTSIDE]).set('lo.example', ['127.0.0.1']).set('meta.example', ['169.254.169.254']);
    leads.set('tls.example', [OUTSIDE]);
    const parametersRef = { group: 'causeway.io', kind: 'MeshParameters', name: 'p' };
    const selector = { dataplane: { matchLabels: {} } };
    const verification = { caCert: { inlineString: outside.certificate } };
    west.state.put(
      sketch('Mesh', 'default', { parametersRef }, { status: { access: { narrowed: 0 } } }),
      sketch('MeshParameters', 'p', {}),
      west.trust(''),
      sketch('MeshIdentity', 'identity', { selector, provider: { type: 'Bundled' } }, { mesh: 'default', zone: '' }),
      external('good', good.port),
      external('lo', good.port),
      external('meta', 80),
      external('tls', tls.port, { tls: { enabled: true, verification } }),
    );
    client = await west.proxy(kind, 'client', { mesh: 'default', listed: 'all', capture: { type: 'bind' } }, 'client');
  });
  afterAll(async () => {
    await west.stop();
    resolver.close();
    await upstream.close();
    await Promise.all([good, other, daemon, tls].map(async (one) => one?.stop()));
  });

  describe.each(['without an egress', 'through an egress'])('%s', (way) => {
    beforeAll(async () => {
      if (way === 'through an egress') await withEgress();
    });

    it('are reached where they lead to an address that may be dialled, TLS with the name', async () => {
      await answers('good', 'good:hello');
      await answers('tls', 'tls(tls.example):hello');
    });

    it('are not where they lead to loopback or to the metadata of a cloud: nothing is dialled', async () => {
      await until('the names are resolved', () =>
        upstream.heard.some(({ question }) => question.name === 'meta.example'),
      );
      const before = daemon?.accepted();
      expect([await say(NAMES.lo, 80), await say(NAMES.meta, 80)]).toEqual(['', '']);
      expect(daemon?.accepted()).toBe(before);
    });

    it('that lead elsewhere later are checked again: to loopback nothing goes, to another address that may be everything', async () => {
      const before = daemon?.accepted();
      leads.set('good.example', ['127.0.0.1']);
      await answers('good', '');
      expect(daemon?.accepted()).toBe(before);
      leads.set('good.example', ['127.0.0.1', OTHER]);
      await answers('good', 'other:hello');
      leads.set('good.example', [OUTSIDE]);
      await answers('good', 'good:hello');
      expect(daemon?.accepted()).toBe(before);
    });

    it('keep their addresses while the resolver is silent', async () => {
      const { behaviour } = upstream;
      upstream.behaviour = () => [];
      const heard = upstream.heard.length;
      await until('it was asked', () => upstream.heard.length > heard);
      expect(await say(NAMES.good, 80)).toBe('good:hello');
      upstream.behaviour = behaviour;
    });
  });

  it('no proxy is told a name to resolve', async () => {
    expect(west.problems()).toEqual([]);
    const told = 'ask' in client ? await client.ask('/config_dump?include_eds') : '';
    expect(told).not.toMatch(/STRICT_DNS|LOGICAL_DNS/);
  });
});
