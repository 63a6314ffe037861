import { formatAbsent, isTrace, readNotedAddress, withoutDemand } from './demand-rules';

/** As nft 1.0.6 and 1.1.3 print it. */
const LINE =
  'trace id 61abe8f5 inet causeway demand packet: iif "lo" @ll,0,112 0x800 ip saddr 127.0.0.1 ip daddr 244.7.1.1 ip dscp cs0 ip ttl 64 ip protocol tcp ip length 60 tcp sport 39186 tcp dport 80 tcp flags == syn tcp window 65495 ';
const RULE =
  'trace id 61abe8f5 inet causeway demand rule limit rate 200/second add @asked4 { ip daddr . tcp dport } drop';

describe('rules of addresses that are used without a socket', () => {
  it.each([
    [LINE, { address: '244.7.1.1', port: 80 }],
    [
      LINE.replaceAll('ip saddr 127.0.0.1 ip daddr 244.7.1.1', 'ip6 saddr ::1 ip6 daddr fd00:fd::99'),
      { address: 'fd00:fd::99', port: 80 },
    ],
    [LINE.replace('causeway', 'other'), undefined],
    [RULE, undefined],
    ['add element inet causeway absent4 { 244.7.1.3 . 99 expires 5s }', undefined],
  ])('reads %s', (line, at) => {
    expect(readNotedAddress(line, 'causeway')).toEqual(at);
  });

  it('tells packets from changes of rules', () => {
    expect([LINE, RULE, 'add element inet causeway absent4 { 244.7.1.3 . 99 }'].map(isTrace)).toEqual([
      true,
      true,
      false,
    ]);
  });

  it('refuses addresses by the set of their family', () => {
    expect(
      formatAbsent(
        [
          { address: '244.7.1.1', port: 80 },
          { address: 'fd00::1', port: 81 },
        ],
        'causeway',
      ),
    ).toBe(
      'add element inet causeway absent4 { 244.7.1.1 . 80 }\nadd element inet causeway absent6 { fd00::1 . 81 }\n',
    );
  });

  it('leaves out what changes by itself, and nothing else, when rules are compared', () => {
    const set = (name: string, elements: string): string =>
      `\tset ${name} {\n\t\ttype ipv4_addr\n\t\ttimeout 5s${elements}\n\t}\n`;
    const elements = '\n\t\telements = { 244.7.1.3 . 99 expires 4s268ms,\n\t\t\t     244.7.1.2 . 22 expires 4s }';
    const table = (own: string): string =>
      `table inet causeway {\n${set('virtual4', elements)}${set('asked4', own)}${set('absent4', own)}${set('proxy4', elements)}}\n`;
    expect(withoutDemand(table(elements))).toBe(table(''));
    expect(withoutDemand(table(''))).toBe(table(''));
  });
});
