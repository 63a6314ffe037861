import { DnsZone, generator, service } from '../../../../test/dns/dns-zone';

const redis = service('redis', { ip: '241.0.0.7', hostnames: ['redis.svc.mesh.local'] });
const ports = [{ port: 80, name: '80' }, { port: 443 }];
const plain = service('plain', { ip: '241.0.0.8', hostnames: ['plain.svc.mesh.local'], spec: { ports } });
const six = service('six', { ip: 'fd00:241::7', hostnames: ['six.svc.mesh.local'] });
const young = service('young', { hostnames: ['young.svc.mesh.local'] });
const local = generator('local', '{{ .DisplayName }}.svc.mesh.local');
const HELD = 'MeshService east/default/redis of mesh default holds it by HostnameGenerator local';

describe('the explanation of a lookup', () => {
  let zone: DnsZone;
  beforeAll(async () => {
    zone = await new DnsZone(redis, plain, six, young, local).start({
      ranges: ['241.0.0.0/8'],
      forward: { enabled: false },
    });
  });
  afterAll(() => zone.close());

  test.each([
    ['redis.svc.mesh.local', undefined, 'NOERROR', `${HELD}; its address is 241.0.0.7`],
    ['redis.svc.mesh.local', 'AAAA', 'NOERROR', /241\.0\.0\.7; that is an IPv4 address, so there is no AAAA record$/],
    ['six.svc.mesh.local', 'A', 'NOERROR', /that is an IPv6 address, so there is no A record$/],
    ['young.svc.mesh.local', 'A', 'NOERROR', /it has no address yet$/],
    ['redis.svc.mesh.local', 'MX', 'NOERROR', /a hostname has no MX record$/],
    ['redis.svc.mesh.local', 'SRV', 'NOERROR', /its ports are asked for as _port\._tcp\.redis\.svc\.mesh\.local$/],
    ['_redis._tcp.redis.svc.mesh.local', 'SRV', 'NOERROR', 'it is port 6379 of redis.svc.mesh.local'],
    ['_9121._tcp.redis.svc.mesh.local', 'A', 'NOERROR', /port 9121 .*; a port has SRV records only$/],
    ['_http._tcp.redis.svc.mesh.local', 'SRV', 'NXDOMAIN', /has no port "http"; its ports are: 6379 redis, 9121$/],
    ['_http._tcp.plain.svc.mesh.local', 'SRV', 'NXDOMAIN', /its ports are: 80, 443$/],
    ['www.redis.svc.mesh.local', 'A', 'NXDOMAIN', /under redis\.svc\.mesh\.local, .* only ports have names$/],
    [
      'nobody.svc.mesh.local',
      'A',
      'NXDOMAIN',
      /no service holds this name, and it is under the suffix mesh\.local, which is ours$/,
    ],
    ['mesh.local', 'A', 'NOERROR', 'it is a suffix of ours and has SOA and NS records only'],
    ['mesh.local', 'SOA', 'NOERROR', 'it is a suffix of ours'],
    ['mesh.local', 'AXFR', 'REFUSED', 'zone transfers are refused'],
    ['7.0.0.241.in-addr.arpa', 'PTR', 'NOERROR', '241.0.0.7 is the address of MeshService east/default/redis'],
    ['7.0.0.241.in-addr.arpa', 'A', 'NOERROR', /its reverse name has PTR records only$/],
    ['example.com', 'A', 'REFUSED', /under no suffix of ours; the query is not forwarded$/],
    ['redis.svc.mesh.local', 'SVR', 'FORMERR', '"SVR" is not a record type'],
  ])('%s %s', (name, type, result, reason) => {
    const explained = zone.dns.lookup(name, type);
    expect(explained).toMatchObject({ result });
    expect(explained['reason']).toEqual(typeof reason === 'string' ? reason : expect.stringMatching(reason));
  });

  test.each([
    ['241.0.0.7', '7.0.0.241.in-addr.arpa', 'redis.svc.mesh.local'],
    ['fd00:241::7', '7.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.1.4.2.0.0.0.d.f.ip6.arpa', 'six.svc.mesh.local'],
  ])('of %s, an address, who has it', (address, name, data) => {
    expect(zone.dns.lookup(address)).toMatchObject({ name, type: 'PTR', answers: [{ name, type: 'PTR', data }] });
  });
});
