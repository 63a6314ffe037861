import { Resolver } from 'node:dns/promises';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DnsZone, generator, service } from './dns-zone';
import { a, answerTo, FakeUpstream } from './fake-upstream';
import { describeWith, run, works } from './programs';

/** Third-party clients query a zone. */
const hostnames = Array.from({ length: 60 }, (_, i) => `a-rather-long-name-${i}.svc.mesh.local`);
const redis = service('redis', { ip: '241.0.0.7', hostnames: ['redis.svc.mesh.east', 'redis.svc.mesh.local'] });
const six = service('six', { ip: 'fd00:241::7', hostnames: ['six.svc.mesh.local'] });
const many = service('many', { ip: '241.0.9.9', hostnames });
const resources = [redis, six, many, generator('local', '{{ .DisplayName }}.svc.mesh.local')];

let zone: DnsZone;
let upstream: FakeUpstream;

beforeAll(async () => {
  upstream = await new FakeUpstream().start();
  upstream.behaviour = (heard) => [answerTo(heard, [a(heard)])];
  const forward = { upstreams: [upstream.address] };
  zone = await new DnsZone(...resources).start({ ranges: ['241.0.0.0/8'], forward, limits: { ratePerClient: 0 } });
});

afterAll(async () => {
  await zone.close();
  await upstream.close();
});

const DEBIAN = 'apt-get install dnsutils knot-dnsutils dnsperf python3-dnspython';

describeWith(
  'dig',
  works('dig', '-v'),
  DEBIAN,
)('dig', () => {
  const dig = async (...args: string[]): Promise<string> =>
    (await run('dig', ['@127.0.0.1', '-p', String(zone.port), '+tries=1', '+time=30', ...args])).stdout;

  test.each([
    [['redis.svc.mesh.local'], '241.0.0.7'],
    [['+tcp', 'REDIS.svc.mesh.LOCAL'], '241.0.0.7'],
    [['+noedns', 'redis.svc.mesh.east'], '241.0.0.7'],
    [['+cookie', '+nsid', '+subnet=10.0.0.0/8', 'redis.svc.mesh.east'], '241.0.0.7'],
    [['AAAA', 'six.svc.mesh.local'], 'fd00:241::7'],
    [['SRV', '_redis._tcp.redis.svc.mesh.local'], '0 0 6379 redis.svc.mesh.local.'],
    [['-x', '241.0.0.7'], 'redis.svc.mesh.east.\nredis.svc.mesh.local.'],
    [['SOA', 'mesh.local'], /^ns\.mesh\.local\. hostmaster\.mesh\.local\. \d+ 60 10 600 5$/],
    [['NS', 'mesh.local'], 'ns.mesh.local.'],
    [['www.example.com'], '192.0.2.1'],
  ])('+short %j', async (args, want) => {
    const said = (await dig('+short', ...args)).trim().replace(/^;; Warning.*\n/gm, '');
    if (typeof want === 'string') expect(said).toBe(want);
    else expect(said).toMatch(want);
  });

  test.each([
    [['AAAA', 'redis.svc.mesh.local'], 'NOERROR'],
    [['nobody.svc.mesh.local'], 'NXDOMAIN'],
    [['-c', 'CH', 'TXT', 'version.bind'], 'REFUSED'],
    [['+norecurse', 'www.example.com'], 'REFUSED'],
    [['+opcode=notify', 'SOA', 'mesh.local'], 'NOTIMP'],
    [['+opcode=update', 'SOA', 'mesh.local'], 'NOTIMP'],
    [['+edns=7', '+noednsnegotiation', 'redis.svc.mesh.local'], 'BADVERS'],
    [['+edns=7', 'redis.svc.mesh.local'], 'NOERROR'],
  ])('%j: %s', async (args, status) => {
    const said = await dig(...args);
    expect(/status: (\w+)/.exec(said)?.[1]).toBe(status);
    expect(said).not.toMatch(/malformed|extra bytes|mismatch/i);
  });

  test('AXFR is refused', async () => {
    expect(await dig('AXFR', 'mesh.local')).toContain('Transfer failed');
  });

  test('what is cut comes over TCP', async () => {
    expect(await dig('+ignore', '+noedns', '-x', '241.0.9.9')).toMatch(/flags:[^;]* tc/);
    const whole = await dig('-x', '241.0.9.9');
    expect(whole).toContain('ANSWER: 60');
    expect(whole).toContain('(TCP)');
  });
});

describeWith(
  'nsupdate',
  works('nsupdate', '-V'),
  DEBIAN,
)('nsupdate', () => {
  test('is told that names are not changed this way', async () => {
    const input = `server 127.0.0.1 ${zone.port}\nzone mesh.local\nupdate add evil.mesh.local 60 A 192.0.2.66\nsend\n`;
    expect((await run('nsupdate', [], input)).stderr).toContain('update failed: NOTIMP');
  });
});

describeWith(
  'kdig',
  works('kdig', '-V'),
  DEBIAN,
)('kdig', () => {
  const kdig = async (...args: string[]): Promise<string> =>
    (await run('kdig', [`@127.0.0.1`, '-p', String(zone.port), '+time=30', ...args])).stdout;

  test.each([
    [['redis.svc.mesh.local'], /status: NOERROR/, /A\s+241\.0\.0\.7/],
    [['+tcp', '+edns', '+dnssec', 'redis.svc.mesh.local'], /status: NOERROR/, /A\s+241\.0\.0\.7/],
    [
      ['+tcp', '+keepopen', 'redis.svc.mesh.local', 'six.svc.mesh.local', '-t', 'AAAA'],
      /status: NOERROR/,
      /fd00:241::7/,
    ],
    [['-t', 'TXT', 'redis.svc.mesh.local'], /status: NOERROR/, /"generator=local"/],
    [['-t', 'TYPE65', 'redis.svc.mesh.local'], /status: NOERROR/, /SOA/],
    [['-t', 'ANY', 'redis.svc.mesh.local'], /ANSWER: 2/, /A\s+241\.0\.0\.7/],
    [['+padding=128', '+cookie=0102030405060708', 'redis.svc.mesh.local'], /status: NOERROR/, /A\s+241\.0\.0\.7/],
    [['nobody.mesh.local'], /status: NXDOMAIN/, /SOA/],
    [['-t', 'NOTIFY', 'mesh.local'], /status: NOTIMPL/, /mesh\.local/],
    [['-x', '241.0.9.9'], /ANSWER: 60/, /a-rather-long-name-59/],
  ])('%j', async (args, status, answer) => {
    const said = await kdig(...args);
    expect(said).toMatch(status);
    expect(said).toMatch(answer);
  });
});

describe("Node's resolver", () => {
  const ask = (): Resolver => {
    const resolver = new Resolver({ timeout: 30_000, tries: 1 });
    resolver.setServers([`127.0.0.1:${zone.port}`]);
    return resolver;
  };

  test('finds addresses, names, ports and descriptions', async () => {
    const resolver = ask();
    expect(await resolver.resolve4('redis.svc.mesh.local', { ttl: true })).toEqual([{ address: '241.0.0.7', ttl: 5 }]);
    expect(await resolver.resolve6('six.svc.mesh.local')).toEqual(['fd00:241::7']);
    expect(await resolver.reverse('241.0.0.7')).toEqual(['redis.svc.mesh.east', 'redis.svc.mesh.local']);
    expect(await resolver.resolveSrv('_redis._tcp.redis.svc.mesh.local')).toMatchObject([
      { name: 'redis.svc.mesh.local', port: 6379, priority: 0, weight: 0 },
    ]);
    expect((await resolver.resolveTxt('redis.svc.mesh.local')).flat()).toContain('zone=east');
    expect(await resolver.resolveSoa('mesh.local')).toMatchObject({ nsname: 'ns.mesh.local', minttl: 5 });
    expect((await resolver.reverse('241.0.9.9')).length).toBe(60);
    expect(await resolver.resolve4('www.example.com')).toEqual(['192.0.2.1']);
  });

  test('tells no data from no name', async () => {
    await expect(ask().resolve6('redis.svc.mesh.local')).rejects.toMatchObject({ code: 'ENODATA' });
    await expect(ask().resolve4('nobody.svc.mesh.local')).rejects.toMatchObject({ code: 'ENOTFOUND' });
  });
});

const python = ['/usr/bin/python3', 'python3'].find((each) => works(each, '-c', 'import dns.resolver'));

describeWith(
  'dnspython',
  python !== undefined,
  DEBIAN,
)("Python's resolver (dnspython)", () => {
  test('finds what it asks for, over UDP and TCP', async () => {
    const script = `
import dns.resolver, dns.flags
r = dns.resolver.Resolver(configure=False)
r.nameservers, r.port, r.lifetime = ['127.0.0.1'], ${zone.port}, 20
def names(kind, name, tcp): return sorted(str(x) for x in r.resolve(name, kind, tcp=tcp))
for tcp in (False, True):
    assert names('A', 'redis.svc.mesh.local.', tcp) == ['241.0.0.7']
    assert names('AAAA', 'six.svc.mesh.local.', tcp) == ['fd00:241::7']
    assert names('SRV', '_redis._tcp.redis.svc.mesh.local.', tcp) == ['0 0 6379 redis.svc.mesh.local.']
assert len(list(r.resolve_address('241.0.9.9'))) == 60
assert r.resolve('redis.svc.mesh.local.', 'A').response.flags & dns.flags.AA
for error, name, kind in ((dns.resolver.NXDOMAIN, 'nobody.mesh.local.', 'A'), (dns.resolver.NoAnswer, 'redis.svc.mesh.local.', 'AAAA')):
    try: r.resolve(name, kind)
    except error: pass
    else: raise AssertionError(name)
print('done')
`;
    const { stdout, stderr } = await run(python ?? 'python3', ['-c', script]);
    expect([stdout.trim(), stderr]).toEqual(['done', '']);
  });
});

describeWith(
  'dnsperf',
  works('dnsperf', '-h'),
  DEBIAN,
)('dnsperf', () => {
  test.each([[[]], [['-e', '-D']], [['-m', 'tcp']]])(
    'asks every name many times and gets every answer, %j',
    async (options) => {
      const folder = mkdtempSync(join(tmpdir(), 'causeway-dns-'));
      const file = join(folder, 'queries');
      writeFileSync(file, hostnames.map((name) => `${name} A\n${name} AAAA\nno-${name} A\n`).join(''));
      const args = [
        '-s',
        '127.0.0.1',
        '-p',
        String(zone.port),
        '-d',
        file,
        '-n',
        '20',
        '-c',
        '4',
        '-t',
        '30',
        ...options,
      ];
      const { stdout } = await run('dnsperf', args);
      rmSync(folder, { recursive: true });
      expect(stdout).toMatch(/Queries completed:\s+3600 \(100\.00%\)/);
      expect(stdout).toMatch(/Response codes:\s+NOERROR 2400 \(66\.67%\), NXDOMAIN 1200 \(33\.33%\)/);
    },
  );
});
