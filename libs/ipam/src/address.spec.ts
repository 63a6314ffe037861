import fc from 'fast-check';
import { formatAddress, isIP, isIPv4, isIPv6, parseAddress } from './address';

describe('addresses', () => {
  it.each([
    ['0.0.0.0', '0.0.0.0'],
    ['241.0.0.7', '241.0.0.7'],
    ['255.255.255.255', '255.255.255.255'],
    ['::', '::'],
    ['fd00::1', 'fd00::1'],
    ['FD00:0:0:0:0:0:0:A', 'fd00::a'],
    ['1:0:0:2:0:0:0:3', '1:0:0:2::3'],
    ['1:0:2:3:4:5:6:7', '1:0:2:3:4:5:6:7'],
    ['1:2:3:4:5:6:7::', '1:2:3:4:5:6:7:0'],
    ['::ffff:10.0.0.1', '::ffff:a00:1'],
  ])('%s is written %s', (text, want) => {
    const address = parseAddress(text);
    expect(address && formatAddress(address)).toBe(want);
  });

  it.each([
    '',
    '1.2.3',
    '1.2.3.4.5',
    '01.2.3.4',
    '256.0.0.1',
    '1.2.3.x',
    ':',
    ':::',
    '1::2::3',
    '1:2:3:4:5:6:7:8:9',
    '12345::',
    '1:2:3:4:5:6:7',
    '::1.2.3',
    'fe80::1%eth0',
    '1:2:3:4:5:6:7:8::',
  ])('"%s" is no address', (text) => expect(parseAddress(text)).toBeUndefined());
});

describe('isIP, isIPv4, isIPv6', () => {
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

  it.each([
    ['a line break', '1.2.3.4\n'],
    ['white space', ' ::1'],
    ['a NUL', '::1\u0000'],
    ['a gap of no group', '1:2:3:4:5:6:7::8'],
    ['a million zeros', `::${'0'.repeat(1_000_000)}1`],
    ['a million digits', '1'.repeat(1_000_000)],
  ])('refuse %s as parseAddress does', (_, text) => {
    expect([isIP(text), parseAddress(text)]).toEqual([false, undefined]);
  });

  it('accept exactly what parseAddress reads', () => {
    const part = fc.constantFrom('0', '1', '00', 'ff', '255', '256', 'g', '10.0.0.1', '1.2.3', '', ':', '::', '.');
    fc.assert(
      fc.property(fc.array(part, { maxLength: 9 }), fc.constantFrom(':', '.', ''), (parts, between) => {
        const text = parts.join(between);
        const parsed = parseAddress(text);
        expect([isIPv4(text), isIPv6(text)]).toEqual([parsed?.family === 4, parsed?.family === 6]);
        if (parsed) expect(parseAddress(formatAddress(parsed))).toEqual(parsed);
      }),
    );
  });
});
