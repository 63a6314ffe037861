import { formatAddress, parseAddress } from './address';

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
