import { RESOURCE_TYPES } from '@causeway/xds-server';
import type { EnvoyView } from '@causeway/xds-translation';
import type { JsonObject, Resource } from '@causeway/resources';
import { ViewResources } from '../../../../test/support/local-plane';
import { TestAuthority } from '../../../../test/support/test-authority';
import { sketch, TrafficZone } from '../../../../test/support/traffic-zone';
import { reliesOnClientCertHeader } from './decode/listeners';
import { DecodedResources } from './decoded-resources';

const EAST = { zone: 'east' };
const REDIS = 'kri_msvc_default_east__redis_6379';
const WEB = 'kri_msvc_default_west__web_8080';
const SERVER = 'spiffe://default.east.mesh.local/workload/server';
const PLAIN = { isTls: false, serverName: '', alpn: [] };
const MESH = { isTls: true, serverName: 'x', alpn: ['kuma'] };

/** The translation as the builtin proxy decodes it. */
describe('a plane is notified', () => {
  const zone = new TrafficZone();
  let authority: TestAuthority;
  const service = (name: string, port: number, protocol: string, given: object): Resource => {
    const identities = [{ type: 'SpiffeID', value: SERVER }];
    const ports = [{ port, appProtocol: protocol }];
    return sketch('MeshService', name, { selector: { dataplaneTags: { app: name } }, ports, identities }, given);
  };
  const settings = (spec: JsonObject): Resource => sketch('MeshParameters', 'p', spec);
  const inbound = [
    { port: 6379, servicePort: 1, tags: { app: 'redis' } },
    { port: 8080, servicePort: 2, tags: { app: 'web' }, protocol: 'http' },
  ];
  const dataplane = sketch('Dataplane', 'server', { networking: { address: '192.0.2.1', inbound } });

  const received = (view: Partial<EnvoyView>): DecodedResources => {
    const identity = () => ({ chain: 'chain', key: { pem: 'key' } });
    const whole = { mesh: 'default', listed: 'all' as const, identity, resolvesNames: true, ...view };
    return new DecodedResources(new ViewResources(zone, 'west', whole));
  };
  const listenerOf = (decoded: DecodedResources, name: string) => {
    expect(decoded.problem(RESOURCE_TYPES.listener, name)).toBeUndefined();
    const found = decoded.listener(name);
    if (!found) throw new Error(`no listener ${name}`);
    return found;
  };

  beforeAll(async () => {
    authority = await TestAuthority.create('east');
    const caBundles = [{ type: 'Pem', pem: { value: authority.certificate } }];
    const parametersRef = { group: 'causeway.io', kind: 'MeshParameters', name: 'p' };
    zone.put(
      sketch('Mesh', 'default', { parametersRef }),
      settings({}),
      sketch('MeshTrust', 'east', { trustDomain: 'default.east.mesh.local', caBundles }, { zone: '' }),
      service('redis', 6379, 'tcp', { ...EAST, status: { vip: { ip: '241.0.0.1' } } }),
      service('web', 8080, 'http', { status: { vip: { ip: '241.0.0.2' } } }),
      sketch('MeshZoneAddress', 'in', { address: '198.51.100.1', port: 10001 }, EAST),
      dataplane,
    );
  });

  it('destinations: who the server must be, by which name it is asked for, and where it is', () => {
    const decoded = received({ capture: { type: 'bind' } });
    const redis = decoded.cluster(REDIS);
    const [{ transport } = { transport: 'plaintext' as const }] = redis?.transports ?? [];
    expect(transport).toMatchObject({
      sni: 'sni.msvc.default.east.redis.6379',
      alpn: ['kuma'],
      own: { secret: 'identity' },
      peerTrust: { type: 'secret', name: 'trust' },
      names: [{ type: 'URI', match: 'exact', value: SERVER }],
      minVersion: 'TLSv1.2',
    });
    expect(redis).toMatchObject({ connectTimeout: 5_000, panicPercent: 0, ejection: undefined, http: undefined });
    const [east] = redis ? decoded.listEndpoints(redis) : [];
    expect(east).toMatchObject({
      zone: 'east',
      endpoints: [{ address: '198.51.100.1', port: 10001, isHealthy: true }],
    });
    expect(decoded.cluster(WEB)?.http).toBe(1);
  });

  it('addresses of services: bytes to the destination; of HTTP the route that takes every request', () => {
    const decoded = received({ capture: { type: 'bind' } });
    const redis = listenerOf(decoded, 'outbound:241.0.0.1:6379');
    expect(redis.at).toEqual({ address: '241.0.0.1', port: 6379 });
    const chain = redis.chains.get(redis.choose(PLAIN) ?? 'none');
    expect(chain?.tls).toBeUndefined();
    expect(chain?.forwarding).toMatchObject({
      choice: { type: 'fixed', cluster: REDIS },
      idle: 3_600_000,
      attempts: 10,
      pause: { base: 25, cap: 250 },
    });
    const web = listenerOf(decoded, 'outbound:241.0.0.2:8080');
    expect(web.chains.get('')?.forwarding.choice).toEqual({ type: 'by routes', routes: WEB });
    expect(decoded.route(WEB)).toEqual({ clusters: [{ cluster: WEB, weight: 1 }], unsupported: undefined });
  });

  it.each<[string, JsonObject, (string | undefined)[]]>([
    ['Strict', {}, ['mesh', 'mesh', 'mesh']],
    ['Permissive', { mtls: 'Permissive' }, ['plaintext', 'own-tls', 'mesh']],
    ['Off', { mtls: 'Off' }, ['plaintext', 'plaintext', 'plaintext']],
    ['nobody', { mtls: 'Off', defaultAccess: 'Deny' }, ['closed', 'closed', 'closed']],
  ])('inbounds: %s', (_, spec, want) => {
    zone.put(settings(spec));
    const redis = listenerOf(received({ dataplane: dataplane.id }), 'inbound:192.0.2.1:6379');
    expect([PLAIN, { ...MESH, alpn: ['h2'] }, MESH].map(redis.choose)).toEqual(want);
    expect(redis.inspection).toEqual({ timeout: 1_000, continuesOnTimeout: true });
    zone.put(settings({}));
  });

  it('whose enrolment has ended: the machines of its zone with that certificate, and nobody else of their id', () => {
    const [here, east] = ['spiffe://default.west.mesh.local/workload/a', 'spiffe://default.east.mesh.local/workload/a'];
    const ended = (zoneOfEnd: string): Resource =>
      sketch('WorkloadRevocation', 'a', { revokedAt: 1, ended: [{ enrolment: 'e-1', until: 9 }] }, { zone: zoneOfEnd });
    const allowed = (id: string, subject: string): boolean | undefined => {
      const chain = listenerOf(received({ dataplane: dataplane.id }), 'inbound:192.0.2.1:6379').chains.get('mesh');
      return chain?.forwarding.access?.allows({ ids: [id], subject });
    };
    zone.put(ended('west'));
    expect([allowed(here, 'CN=e-1'), allowed(here, 'CN=e-2'), allowed(here, '')]).toEqual([false, true, true]);
    zone.delete(ended('west'));
    expect(allowed(here, 'CN=e-1')).toBe(true);
    // Another zone can revoke certificates of its own trust domain only.
    zone.put(ended('east'));
    expect([allowed(east, 'CN=e-1'), allowed(here, 'CN=e-1')]).toEqual([false, true]);
    zone.delete(ended('east'));
  });

  it('who may call: anyone with an identity, all but the revoked, nobody', () => {
    const allowed = (spec: JsonObject, ids: readonly string[]): boolean | undefined => {
      zone.put(settings(spec));
      const chain = listenerOf(received({ dataplane: dataplane.id }), 'inbound:192.0.2.1:6379').chains.get('mesh');
      return chain?.forwarding.access?.allows({ ids, subject: '' });
    };
    const [one, other] = ['spiffe://a/b', 'spiffe://a/c'];
    const revoked = { revokedIdentities: [one] };
    expect([allowed({}, [one]), allowed({}, [])]).toEqual([true, false]);
    expect([allowed(revoked, [one]), allowed(revoked, [other]), allowed(revoked, [other, one])]).toEqual([
      false,
      true,
      false,
    ]);
    expect(allowed({ defaultAccess: 'Deny' }, [one])).toBe(false);
    zone.put(settings({}));
  });

  it('an inbound of HTTP: what a plane that passes on bytes cannot do is named', () => {
    const web = listenerOf(received({ dataplane: dataplane.id }), 'inbound:192.0.2.1:8080');
    const chain = web.chains.get('mesh');
    expect(chain?.forwarding.unsupported).toEqual(['x-forwarded-client-cert is passed on as the caller sends it']);
    expect(chain?.forwarding.choice).toEqual({ type: 'fixed', cluster: 'localhost:127.0.0.1:2' });
    expect(chain?.tls).toMatchObject({ needsClientCertificate: true, peerTrust: { type: 'secret', name: 'trust' } });
  });

  it('an inbound of HTTP whose process relies on who called is marked; one of bytes is not', () => {
    const marked = () => {
      const decoded = received({ dataplane: dataplane.id });
      return [8080, 6379].map((port) => reliesOnClientCertHeader(listenerOf(decoded, `inbound:192.0.2.1:${port}`)));
    };
    expect(marked()).toEqual([false, false]);
    zone.put(settings({ clientCertHeader: 'Required' }));
    expect(marked()).toEqual([true, false]);
    zone.put(settings({ clientCertHeader: 'Optional' }));
    expect(marked()).toEqual([false, false]);
    zone.put(settings({}));
  });

  it('the ingress: the server name chooses the cluster, and a source has limits', () => {
    const decoded = received({ ingress: { address: '192.0.2.9', port: 10001 } });
    const ingress = listenerOf(decoded, 'ingress:192.0.2.9:10001');
    expect(ingress.choose(PLAIN)).toBeUndefined();
    expect(ingress.inspection).toEqual({ timeout: 5_000, continuesOnTimeout: false });
    const { forwarding } = ingress.chains.get(ingress.choose(MESH) ?? 'none') ?? {};
    expect(forwarding?.choice).toEqual({ type: 'by server name', prefix: 'in:' });
    expect(forwarding?.limit).toMatchObject({ connections: 8_192, perSecond: 500, burst: 2_000 });
    expect(decoded.cluster('in:sni.msvc.default.west.web.8080')?.transports[0]?.transport).toBe('plaintext');
  });

  it('a server outside the mesh: its TLS is begun here, by its own name and authority', () => {
    const verification = { serverName: 'api.example', caCert: { inlineString: authority.certificate } };
    const spec = { match: { port: 443, protocol: 'tcp' }, endpoints: [{ address: 'api.example', port: 8443 }] };
    const tls = { enabled: true, version: { min: 'TLS12', max: 'TLS13' }, verification };
    const api = sketch(
      'MeshExternalService',
      'api',
      { ...spec, tls },
      { zone: '', status: { vip: { ip: '242.0.0.1' } } },
    );
    zone.put(api);
    const decoded = received({ capture: { type: 'bind' } });
    const [name = ''] = [...decoded.names(RESOURCE_TYPES.cluster)].filter((one) => one.includes('extsvc'));
    expect(decoded.problem(RESOURCE_TYPES.cluster, name)).toBeUndefined();
    const plan = decoded.cluster(name);
    expect(plan).toMatchObject({
      isResolved: true,
      transports: [{ transport: { sni: 'api.example', own: undefined } }],
    });
    expect(plan?.transports[0]?.transport).toMatchObject({
      peerTrust: { type: 'authorities', pem: { text: authority.certificate } },
      names: [{ type: 'DNS', match: 'exact', value: 'api.example' }],
    });
    expect(plan && decoded.listEndpoints(plan)[0]?.endpoints).toMatchObject([{ address: 'api.example', port: 8443 }]);
    zone.delete(api);
  });

  it('what it cannot obey is a problem with its reason, and is not there', () => {
    const at = { address: '127.0.0.1', port: 15001 };
    const decoded = received({ capture: { type: 'redirect', at, reentry: { ...at, port: 15011 } } });
    expect(decoded.listener('outbound')).toBeUndefined();
    expect(decoded.problem(RESOURCE_TYPES.listener, 'outbound')).toBe('fcdsConfig: chains by address are not known');
  });

  it('the authorities are by trust domain', () => {
    const found = received({ capture: { type: 'bind' } }).secret('trust')?.secret;
    expect(found?.type === 'trust' && [...found.domains.keys()]).toEqual(['default.east.mesh.local']);
  });
});
