import { isDomainName, isIP, isIPv4, isIPv6 } from './addresses';

describe('addresses', () => {
  it.each(['0.0.0.0', '10.1.2.3', '255.255.255.255'])('%s is IPv4', (text) => {
    expect([isIPv4(text), isIPv6(text), isIP(text)]).toEqual([true, false, true]);
  });

  it.each([
    '',
    '1.2.3',
    '1.2.3.4.5',
    '256.1.1.1',
    '01.2.3.4',
    '1.2.3.4 ',
    'a.b.c.d',
    '1..2.3',
    '0x1.2.3.4',
    '1e1.0.0.1',
  ])('"%s" is not IPv4', (text) => {
    expect(isIPv4(text)).toBe(false);
  });

  it.each([
    '::',
    '::1',
    'fd00::1',
    '1:2:3:4:5:6:7:8',
    '2001:DB8::',
    '::ffff:10.0.0.1',
    '1:2:3:4:5:6:1.2.3.4',
    '1::8',
    '::2:3:4:5:6:7:8',
  ])('%s is IPv6', (text) => {
    expect([isIPv6(text), isIPv4(text), isIP(text)]).toEqual([true, false, true]);
  });

  it.each([
    '',
    ':',
    ':::',
    '1',
    '1:2:3:4:5:6:7',
    '1:2:3:4:5:6:7:8:9',
    '1::2::3',
    '12345::',
    'g::',
    '::1.2.3',
    '1.2.3.4::',
    'fe80::1%eth0',
    '::1:2:3:4:5:6:7:8',
    ':1:2:3:4:5:6:7',
  ])('"%s" is not IPv6', (text) => {
    expect(isIPv6(text)).toBe(false);
  });

  it.each(['localhost', 'example.com', 'a.b-c.D', '_srv.example.com', '1a'])('%s is a host name', (text) => {
    expect(isDomainName(text)).toBe(true);
  });

  it.each(['', '.', 'a..b', 'a.', '-a', 'a-', 'a b', '..>_<..', 'é', 'a'.repeat(64), `${'a.'.repeat(127)}aa`])(
    '"%s" is not a host name',
    (text) => {
      expect(isDomainName(text)).toBe(false);
    },
  );
});
