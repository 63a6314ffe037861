import { formatServiceKey, ServiceMaps, type DirectService } from './service-maps';

type Place = readonly [address: string, port: number, weight: number];
const service = (address: string, endpoints: readonly Place[]): DirectService => ({
  at: { address, port: 80 },
  endpoints: endpoints.map(([at, port, weight]) => ({ address: at, port, weight })),
});
const one = (of: DirectService): ReadonlyMap<string, DirectService> => new Map([[formatServiceKey(of.at), of]]);

describe('ServiceMaps', () => {
  it('writes what differs only', () => {
    const maps = new ServiceMaps('i');
    const [a, b]: readonly Place[] = [
      ['10.0.0.1', 8080, 1],
      ['10.0.0.2', 8080, 1],
    ];
    const bring = (...endpoints: readonly (Place | undefined)[]): readonly string[] =>
      maps
        .renderChange(
          one(
            service(
              '241.0.0.1',
              endpoints.filter((each) => each !== undefined),
            ),
          ),
        )
        .split('\n')
        .map((line) => line.replace('inet causeway_direct ', ''))
        .slice(0, -1);
    expect(bring(a)).toEqual([
      'add chain of1_4',
      'add rule of1_4 meta l4proto tcp dnat ip to ip daddr . tcp dport . numgen random mod 1 map @endpoints4',
      'add element endpoints4 { 241.0.0.1 . 80 . 0 : 10.0.0.1 . 8080 }',
      'add element services4 { 241.0.0.1 . 80 : goto of1_4 }',
    ]);
    expect(bring(a)).toEqual([]);
    expect(bring(b)).toEqual([
      'delete element endpoints4 { 241.0.0.1 . 80 . 0 }',
      'add element endpoints4 { 241.0.0.1 . 80 . 0 : 10.0.0.2 . 8080 }',
    ]);
    expect(bring(b, a)).toEqual([
      'add chain of2_4',
      'add rule of2_4 meta l4proto tcp dnat ip to ip daddr . tcp dport . numgen random mod 2 map @endpoints4',
      'delete element services4 { 241.0.0.1 . 80 }',
      'add element endpoints4 { 241.0.0.1 . 80 . 1 : 10.0.0.1 . 8080 }',
      'add element services4 { 241.0.0.1 . 80 : goto of2_4 }',
    ]);
    expect(bring(b)).toEqual([
      'delete element endpoints4 { 241.0.0.1 . 80 . 1 }',
      'delete element services4 { 241.0.0.1 . 80 }',
      'add element services4 { 241.0.0.1 . 80 : goto of1_4 }',
    ]);
    expect(bring()).toEqual([
      'delete element endpoints4 { 241.0.0.1 . 80 . 0 }',
      'delete element services4 { 241.0.0.1 . 80 }',
    ]);
    expect(maps.size).toBe(0);
    expect(maps.renderChange(new Map([['241.0.0.1 . 80', undefined]]))).toBe('');
  });

  /** Returns how many slots each endpoint has. */
  const shares = (given: DirectService): Readonly<Record<string, number>> => {
    const found: Record<string, number> = {};
    const text = new ServiceMaps('i').renderChange(one(given));
    for (const [, to = ''] of text.matchAll(/ \. \d+ : ([0-9a-f.:]+ \. \d+)/g)) found[to] = (found[to] ?? 0) + 1;
    return found;
  };

  it.each<[string, DirectService, Readonly<Record<string, number>>]>([
    [
      'equal shares',
      service('241.0.0.1', [
        ['10.0.0.1', 1, 7],
        ['10.0.0.2', 2, 7],
      ]),
      { '10.0.0.1 . 1': 1, '10.0.0.2 . 2': 1 },
    ],
    [
      'weights',
      service('241.0.0.1', [
        ['10.0.0.1', 1, 2_000],
        ['10.0.0.2', 2, 500],
      ]),
      { '10.0.0.1 . 1': 4, '10.0.0.2 . 2': 1 },
    ],
    [
      'weights that are too many slots: in proportion, each at least one',
      service('241.0.0.1', [
        ['10.0.0.1', 1, 999_999],
        ['10.0.0.2', 2, 500_000],
        ['10.0.0.3', 3, 1],
      ]),
      { '10.0.0.1 . 1': 683, '10.0.0.2 . 2': 341, '10.0.0.3 . 3': 1 },
    ],
    [
      'IPv6, and no endpoint of the other family',
      service('fd00:fd::1', [
        ['fd00::1', 1, 1],
        ['10.0.0.2', 2, 1],
      ]),
      { 'fd00::1 . 1': 1 },
    ],
  ])('%s', (_, given, want) => {
    expect(shares(given)).toEqual(want);
  });

  it('has a slot for each of many equal endpoints', () => {
    const many = Array.from({ length: 3_000 }, (_, i): Place => [`10.0.${i >> 8}.${i & 255}`, 80, 3]);
    expect(Object.keys(shares(service('241.0.0.1', many)))).toHaveLength(3_000);
  });

  it('removes a service whose last endpoint goes', () => {
    const maps = new ServiceMaps('i');
    maps.renderChange(one(service('fd00:fd::1', [['fd00::1', 1, 1]])));
    expect(maps.renderChange(one(service('fd00:fd::1', [])))).toContain(
      'delete element inet causeway_direct services6',
    );
  });

  it('has a trial of each map that a rule uses, and of one element', () => {
    const maps = new ServiceMaps('i');
    const lines = (): readonly string[] =>
      maps.renderCheck().text.replaceAll('inet causeway_direct ', '').trim().split('\n');
    expect(lines()).toEqual(['delete map services4', 'delete map services6']);
    maps.renderChange(one(service('fd00:fd::1', [['fd00::1', 1, 1]])));
    expect(lines()).toEqual([
      'delete element services6 { fd00:fd::1 . 80 }',
      ...['services4', 'services6', 'endpoints6'].map((map) => `delete map ${map}`),
    ]);
    expect([maps.renderCheck().used, maps.slotCount]).toEqual([3, 1]);
  });
});
