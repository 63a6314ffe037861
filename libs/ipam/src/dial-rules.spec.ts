import { DEFAULT_DIAL_RULES, isMemberAddress, mayDial, parseDialRules, type DialRules } from './dial-rules';

function rulesOf(...texts: readonly string[]): DialRules {
  const parsed = parseDialRules(texts);
  if (!parsed.ok) throw new Error(parsed.errors.join('; '));
  return parsed.rules;
}

describe('the preset of what may be dialled', () => {
  it.each([
    '10.0.0.1',
    '203.0.113.7',
    '126.255.255.255',
    '128.0.0.1',
    'fd00::1',
    '2001:db8::1',
    '::ffff:10.0.0.1',
    '64:ff9b::8.8.8.8',
  ])('%s may', (address) => expect(mayDial(DEFAULT_DIAL_RULES, address)).toBe(true));

  it.each([
    ['loopback', '127.0.0.1'],
    ['loopback', '127.255.255.254'],
    ['loopback', '::1'],
    ['loopback, mapped', '::ffff:127.0.0.1'],
    ['loopback, mapped, in hexadecimal', '::FFFF:7f00:1'],
    ['loopback, mapped, whole', '0:0:0:0:0:ffff:7f00:0001'],
    ['loopback, compatible', '::127.0.0.1'],
    ['loopback by NAT64', '64:ff9b::127.0.0.1'],
    ['loopback by local NAT64', '64:ff9b:1::7f00:1'],
    ['loopback by SIIT', '::ffff:0:127.0.0.1'],
    ['loopback by 6to4', '2002:7f00:1::'],
    ['this host', '0.0.0.0'],
    ['this host', '::'],
    ['this host, mapped', '::ffff:0.0.0.0'],
    ['this network', '0.1.2.3'],
    ['link-local', '169.254.0.1'],
    ['link-local', 'fe80::1'],
    ['metadata', '169.254.169.254'],
    ['metadata, mapped', '::ffff:a9fe:a9fe'],
    ['metadata by NAT64', '64:ff9b::a9fe:a9fe'],
    ['metadata of EC2', 'fd00:ec2::254'],
    ['metadata of EC2, whole', 'FD00:0EC2:0:0:0:0:0:0254'],
    ['with a zone index', 'fe80::1%eth0'],
    ['with a zone index', 'fd00::1%1'],
    ['short IPv4', '127.1'],
    ['a number', '2130706433'],
    ['hexadecimal', '0x7f000001'],
    ['octal', '0177.0.0.1'],
    ['leading zeros', '010.0.0.1'],
    ['white space', ' 10.0.0.1'],
    ['a name', 'localhost'],
    ['nothing', ''],
  ])('%s may not: %s', (_, address) => expect(mayDial(DEFAULT_DIAL_RULES, address)).toBe(false));
});

describe('written rules', () => {
  it('allow what they name and nothing else', () => {
    const rules = rulesOf('127.42.0.0/16', '2001:db8::1');
    const asked = ['127.42.0.1', '::ffff:127.42.0.1', '127.43.0.1', '10.0.0.1', '2001:db8::1', '2001:db8::2'];
    expect(asked.filter((address) => mayDial(rules, address))).toEqual([
      '127.42.0.1',
      '::ffff:127.42.0.1',
      '2001:db8::1',
    ]);
  });

  it('add to the preset, and take from it, whatever their order', () => {
    const texts = ['!10.0.0.0/8', '127.42.0.0/16', 'default', '10.1.0.0/16', '!10.1.0.5'];
    for (const rules of [rulesOf(...texts), rulesOf(...texts.reverse())]) {
      const asked = ['8.8.8.8', '127.42.0.1', '127.0.0.1', '10.0.0.1', '10.1.0.1', '10.1.0.5', '64:ff9b::10.1.0.5'];
      expect(asked.filter((address) => mayDial(rules, address))).toEqual(['8.8.8.8', '127.42.0.1', '10.1.0.1']);
    }
  });

  it('refuse where two are equal, and everything where there is none', () => {
    expect(mayDial(rulesOf('10.0.0.0/8', '!10.0.0.0/8'), '10.0.0.1')).toBe(false);
    expect(mayDial(rulesOf(), '10.0.0.1')).toBe(false);
  });

  it('an address of NAT64 needs what it carries', () => {
    expect(mayDial(rulesOf('64:ff9b::/96'), '64:ff9b::10.0.0.1')).toBe(false);
    expect(mayDial(rulesOf('64:ff9b::/96', '10.0.0.0/8'), '64:ff9b::10.0.0.1')).toBe(true);
    expect(mayDial(rulesOf('10.0.0.0/8'), '64:ff9b::10.0.0.1')).toBe(false);
  });

  it.each([
    '',
    '!',
    'any',
    '10.0.0.0/33',
    '10.0.0.0/',
    '10.0.0/8',
    '!!10.0.0.0/8',
    '::ffff:127.0.0.1',
    '::ffff:0:0/96',
    'example.com',
  ])('"%s" is none', (text) => {
    const parsed = parseDialRules(['10.0.0.0/8', text]);
    expect(parsed).toEqual({ ok: false, errors: [expect.stringContaining(`got "${text}"`)] });
  });

  it('are bounded', () => {
    const texts = Array.from({ length: 1_001 }, () => '10.0.0.0/8');
    expect(parseDialRules(texts)).toEqual({ ok: false, errors: ['must have at most 1000 entries; has 1001'] });
  });
});

describe('what something of a mesh may be at', () => {
  it.each(['10.0.0.1', '127.0.0.1', '127.42.0.1', '::1', 'fd00::1', '::ffff:10.0.0.1', 'redis.example.com'])(
    '%s',
    (address) => expect(isMemberAddress(address)).toBe(true),
  );
  it.each([
    '169.254.169.254',
    '169.254.0.1',
    '::ffff:a9fe:a9fe',
    '64:ff9b::a9fe:a9fe',
    'fe80::1',
    'fd00:ec2::254',
    '0.0.0.0',
  ])('not %s', (address) => expect(isMemberAddress(address)).toBe(false));
});
