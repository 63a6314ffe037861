import { checkAddresses, checkDnsTtl, checkSuffixes, checkUpstreams } from './dns-config';
import { literalSuffix } from './table/authority';
import { configuredSuffixes, reverseSuffixes } from './table/authority';
import { formatDnsName, reverseName, parseDnsName } from './wire/dns-name';

test.each([
  [5_000, 60_000, true],
  [30_000, 60_000, true],
  [30_001, 60_000, false],
])('answers kept for %i ms with a cooldown of %i ms: %s', (ttl, cooldown, good) => {
  expect(checkDnsTtl(ttl, cooldown).length === 0).toBe(good);
});

test('suffixes and upstreams that cannot be are named, each', () => {
  expect(checkSuffixes(['mesh.local', 'a..b', ''])).toEqual(['"a..b" is not a domain name', '"" is not a domain name']);
  const upstreams = ['10.0.0.53', '[fd00::53]:5353', '10.0.0.53:99999', 'dns.example', 'fd00::1'];
  expect(checkUpstreams(upstreams)).toEqual([
    expect.stringContaining('"10.0.0.53:99999"'),
    expect.stringContaining('"dns.example"'),
  ]);
});

test.each([
  [['127.0.0.1'], []],
  [['127.0.0.1', '10.0.0.1', '::1', 'fd00::1'], []],
  [['0.0.0.0', 'fd00::1'], []],
  [['::'], []],
  [[], ['must name at least one address']],
  [
    ['localhost', '10.0.0.256', '::1'],
    ['"localhost" is not an address', '"10.0.0.256" is not an address'],
  ],
  [['10.0.0.1', '::1', '10.0.0.1'], ['"10.0.0.1" is named twice']],
  [['10.0.0.1', '0.0.0.0'], ['"10.0.0.1" is one of those that 0.0.0.0 stands for']],
  [['::', '0.0.0.0'], ['"0.0.0.0" is one of those that :: stands for']],
])('answering at %j: %j', (addresses, wrong) => {
  expect(checkAddresses(addresses)).toEqual(wrong);
});

test.each([
  ['{{ .DisplayName }}.svc.mesh.local', 'svc.mesh.local'],
  ['{{ name }}-x.mesh.local', 'mesh.local'],
  ['{{ name }}.mesh', undefined],
  ['{{ name }}-x.mesh', undefined],
  ['static.mesh.local', undefined],
  ['{{ name }}.svc.mesh.{{ label "kuma.io/zone" }}', undefined],
  ['{{ broken', undefined],
])('of %s the suffix is %s', (template, suffix) => {
  expect(literalSuffix(template)).toBe(suffix === undefined ? undefined : parseDnsName(suffix));
});

test.each([
  ['241.0.0.0/8', ['241.in-addr.arpa']],
  ['10.32.0.0/15', ['32.10.in-addr.arpa', '33.10.in-addr.arpa']],
  ['192.0.2.128/26', Array.from({ length: 64 }, (_, i) => `${128 + i}.2.0.192.in-addr.arpa`)],
  ['fd00:241::/32', ['1.4.2.0.0.0.d.f.ip6.arpa']],
  ['fd00::/7', ['c.f.ip6.arpa', 'd.f.ip6.arpa']],
  ['0.0.0.0/0', []],
])('the reverse names of %s', (cidr, names) => {
  expect(reverseSuffixes(cidr)).toEqual(names);
});

test('configured suffixes and ranges, each once', () => {
  expect(
    configuredSuffixes({ suffixes: ['mesh.local', 'Mesh.Local.'], ranges: ['241.0.0.0/8'] }).map(formatDnsName),
  ).toEqual(['mesh.local', '241.in-addr.arpa']);
});

test.each([
  ['241.0.0.7', '7.0.0.241.in-addr.arpa'],
  ['::1', `1.${'0.'.repeat(31)}ip6.arpa`],
  ['::ffff:1.2.3.4', `4.0.3.0.2.0.1.0.f.f.f.f.${'0.'.repeat(20)}ip6.arpa`],
])('%s is asked for as %s', (ip, name) => {
  expect(formatDnsName(reverseName(ip))).toBe(name);
});

test.each(['a..b', '.a', 'x'.repeat(64), `${'a.'.repeat(127)}ab`, 'ä.b', ''])('%j is no name', (text) => {
  expect(parseDnsName(text)).toBeUndefined();
});
