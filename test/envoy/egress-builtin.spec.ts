import type { JsonObject, Resource } from '@causeway/resources';
import type { BuiltinProxy } from '../support/builtin-proxy';
import type { EnvoyProcess } from '../support/envoy-process';
import { loopbackBlock } from '../support/loopback-networks';
import { echo, say, sayTls, tlsEcho, type ServiceProcess } from '../support/mesh-processes';
import { TestAuthority } from '../support/test-authority';
import { LOOPBACK_HOSTS, TrafficPlane } from '../support/traffic-plane';
import { sketch } from '../support/traffic-zone';
import { until } from '../support/until';

const host = loopbackBlock();
const AT = { address: host(100), port: 10002 };
const API = { vip: host(7), port: 443, name: 'kri_extsvc_default___api.example_443' };
const PLAIN = { vip: host(8), port: 6379 };
const EGRESS_ID = 'spiffe://default.west.mesh.local/zone-egress';

describe('the egress of a zone and its client, both by builtin planes,', () => {
  let west: TrafficPlane;
  let outside: TestAuthority;
  let egress: EnvoyProcess | BuiltinProxy;
  let [api, plain]: readonly ServiceProcess[] = [];

  const external = (name: string, { vip, port }: typeof PLAIN, spec: JsonObject): Resource =>
    sketch(
      'MeshExternalService',
      name,
      { match: { port, protocol: 'tcp' }, ...spec },
      { zone: '', status: { vip: { ip: vip } } },
    );
  const settings = (spec: JsonObject): Resource => sketch('MeshParameters', 'p', spec);
  const becomes = (want: string): Promise<unknown> =>
    until(`the answer ${want}`, async () => (await say(API.vip, API.port)) === want);

  beforeAll(async () => {
    west = await TrafficPlane.start('west', LOOPBACK_HOSTS);
    outside = await TestAuthority.create('outside');
    const { chain: cert, key } = await outside.issue({ dns: 'api.example' });
    [api, plain] = await Promise.all([tlsEcho('api', { cert, key }, '127.0.0.1'), echo('plain')]);
    const verification = { serverName: 'api.example', caCert: { inlineString: outside.certificate } };
    const at = (of: ServiceProcess | undefined) => ({ endpoints: [{ address: '127.0.0.1', port: of?.port ?? 1 }] });
    const parametersRef = { group: 'causeway.io', kind: 'MeshParameters', name: 'p' };
    const selector = { dataplane: { matchLabels: {} } };
    west.state.put(
      sketch('Mesh', 'default', { parametersRef }, { status: { access: { narrowed: 0 } } }),
      settings({}),
      west.trust(''),
      sketch('MeshIdentity', 'identity', { selector, provider: { type: 'Bundled' } }, { mesh: 'default', zone: '' }),
      sketch('ZoneEgress', 'first', { networking: { ...AT } }, { zone: 'west' }),
      external('api.example', API, { ...at(api), tls: { enabled: true, verification } }),
      external('plain', PLAIN, at(plain)),
    );
    const own = await west.authority.issue({ uri: EGRESS_ID });
    const certificate = { chain: own.chain, key: { pem: own.key } };
    egress = await west.proxy('builtin', 'first', {
      mesh: '',
      listed: new Set<string>(),
      egress: { at: AT, identity: (of) => (of === 'default' ? certificate : undefined) },
    });
    await west.proxy('builtin', 'client', { mesh: 'default', listed: 'all', capture: { type: 'bind' } }, 'client');
  });
  afterAll(async () => {
    await west.stop();
    await Promise.all([api, plain].map(async (one) => one?.stop()));
  });

  it('reach a TLS server outside the mesh: the egress begins its TLS, and verifies it', async () => {
    await becomes('api(api.example):hello');
    await until('the other one', async () => (await say(PLAIN.vip, PLAIN.port)).startsWith('plain'));
    expect(await egress.stat('tcp.egress.downstream_cx_total')).toBeGreaterThanOrEqual(2);
    // Another authority than that of the server: nothing of the client gets there.
    const other = await TestAuthority.create('other');
    const wrong = { serverName: 'api.example', caCert: { inlineString: other.certificate } };
    const endpoints = [{ address: '127.0.0.1', port: api?.port ?? 1 }];
    west.state.put(external('api.example', API, { endpoints, tls: { enabled: true, verification: wrong } }));
    await becomes('');
    const right = { ...wrong, caCert: { inlineString: outside.certificate } };
    west.state.put(external('api.example', API, { endpoints, tls: { enabled: true, verification: right } }));
    await becomes('api(api.example):hello');
  });

  it('show a server the certificate that it asks for, by a key that only the egress has', async () => {
    const own = await outside.issue({ dns: 'west' });
    const { chain: cert, key } = await outside.issue({ dns: 'api.example' });
    const asking = await tlsEcho('asking', { cert, key, ca: outside.certificate, requestCert: true }, '127.0.0.1');
    const verification = {
      serverName: 'api.example',
      caCert: { inlineString: outside.certificate },
      clientCert: { inlineString: own.chain },
      clientKey: { secret: 'own-key' },
    };
    const usedBy = [{ kind: 'MeshExternalService', name: 'api.example' }];
    const data = Buffer.from(own.key).toString('base64');
    const services = (of: ServiceProcess | undefined, given: JsonObject): Resource =>
      external('api.example', API, {
        endpoints: [{ address: '127.0.0.1', port: of?.port ?? 1 }],
        tls: { enabled: true, verification: given },
      });
    west.state.put(sketch('Secret', 'own-key', { data, usedBy }, { zone: '' }), services(asking, verification));
    await becomes('asking(api.example):hello');
    west.state.put(sketch('Secret', 'own-key', { data, usedBy: [] }, { zone: '' }));
    await becomes('');
    const { serverName, caCert } = verification;
    west.state.put(services(api, { serverName, caCert }));
    await becomes('api(api.example):hello');
    await asking.stop();
  });

  it('refuse who has no certificate of the mesh, and who may not call, and dial nothing', async () => {
    const servername = west.source.model.destination(API.name)?.egress?.serverName ?? '';
    const caller = await west.authority.issue({ uri: west.spiffeId('client') });
    const stranger = await outside.issue({ uri: west.spiffeId('client') });
    const enter = ({ chain: cert, key }: { readonly chain: string; readonly key: string }): Promise<string> =>
      sayTls({ host: AT.address, port: AT.port, servername, cert, key });
    expect(await enter(caller)).toBe('api(api.example):hello');
    const dialled = api?.accepted();
    expect([await enter(stranger), await say(AT.address, AT.port)]).toEqual(['', '']);
    west.state.put(settings({ defaultAccess: 'Deny' }));
    await until('nobody may call', async () => (await enter(caller)) === '');
    const denied = api?.accepted();
    expect(await say(API.vip, API.port)).toBe('');
    expect(api?.accepted()).toBe(denied);
    expect(dialled).toBeDefined();
    west.state.put(settings({}));
    await becomes('api(api.example):hello');
  });
});
