import { planRanges, type RangeSetting } from './plan-ranges';
import { describeRange } from './range';

const settings = (ranges: Record<string, string>): RangeSetting[] =>
  Object.entries(ranges).map(([owner, range]) => ({ owner, range }));

const DEFAULTS = {
  MeshService: '241.0.0.0/8',
  MeshExternalService: '242.0.0.0/8',
  MeshMultiZoneService: '243.0.0.0/8',
};

describe('planRanges', () => {
  const good: [string, Record<string, string>, Record<string, string[]>, string[]][] = [
    [
      'T001-09 T001-10 the defaults are three disjoint /8 and say nothing',
      DEFAULTS,
      {
        MeshService: ['241.0.0.0-241.255.255.255'],
        MeshExternalService: ['242.0.0.0-242.255.255.255'],
        MeshMultiZoneService: ['243.0.0.0-243.255.255.255'],
      },
      [],
    ],
    [
      "T001-10 the seed's 241.0.0.0/4 is 240/4, without the others' ranges and the broadcast address",
      { ...DEFAULTS, MeshService: '241.0.0.0/4' },
      {
        MeshService: ['240.0.0.0-241.255.255.255', '244.0.0.0-255.255.255.254'],
        MeshExternalService: ['242.0.0.0-242.255.255.255'],
        MeshMultiZoneService: ['243.0.0.0-243.255.255.255'],
      },
      [
        'MeshService: "241.0.0.0/4" has host bits set and is taken as 240.0.0.0/4',
        'MeshService: 242.0.0.0-242.255.255.255 of MeshExternalService is left out of 240.0.0.0-255.255.255.255',
        'MeshService: 243.0.0.0-243.255.255.255 of MeshMultiZoneService is left out of 240.0.0.0-255.255.255.255',
      ],
    ],
    [
      'IPv6 beside IPv4',
      { A: 'fd00::/64', B: '10.1.2.0/30' },
      { A: ['fd00::-fd00::ffff:ffff:ffff:ffff'], B: ['10.1.2.0-10.1.2.3'] },
      [],
    ],
    [
      'loopback, for proxies that bind addresses without root',
      { A: '127.64.0.0/16' },
      { A: ['127.64.0.0-127.64.255.255'] },
      [],
    ],
    [
      'a range inside a range inside a range',
      { A: '10.0.0.0/8', B: '10.0.0.0/16', C: '10.0.0.0/24' },
      { A: ['10.1.0.0-10.255.255.255'], B: ['10.0.1.0-10.0.255.255'], C: ['10.0.0.0-10.0.0.255'] },
      [
        'A: 10.0.0.0-10.0.255.255 of B is left out of 10.0.0.0-10.255.255.255',
        'A: 10.0.0.0-10.0.0.255 of C is left out of 10.0.0.0-10.255.255.255',
        'B: 10.0.0.0-10.0.0.255 of C is left out of 10.0.0.0-10.0.255.255',
      ],
    ],
  ];
  it.each(good)('%s', (_, ranges, want, warnings) => {
    const plan = planRanges(settings(ranges));
    if (!plan.ok) throw new Error(plan.errors.join('\n'));
    expect(Object.fromEntries(plan.owned.map((o) => [o.owner, o.ranges.map(describeRange)]))).toEqual(want);
    expect(plan.warnings).toEqual(warnings);
  });

  const bad: [string, Record<string, string>, string[]][] = [
    ['equal', { A: '10.0.0.0/8', B: '10.0.0.1/8' }, ['A and B: 10.0.0.0/8 and 10.0.0.1/8 are the same range']],
    [
      'nothing left',
      { A: '10.0.0.0/8', B: '10.0.0.0/9', C: '10.128.0.0/9' },
      ['A: other ranges leave no address of it'],
    ],
    [
      'all errors at once',
      { A: '10.0.0.0', B: '8.8.0.0/16', C: 'fd00::/129' },
      [
        'A: must be a range like 241.0.0.0/8 or fd00::/64; got "10.0.0.0"',
        'C: must be a range like 241.0.0.0/8 or fd00::/64; got "fd00::/129"',
        "B: 8.8.0.0/16 is neither private nor reserved, its addresses may be somebody's on the internet",
      ],
    ],
    [
      'half of it public',
      { A: '172.0.0.0/8' },
      ["A: 172.0.0.0/8 is neither private nor reserved, its addresses may be somebody's on the internet"],
    ],
    [
      'public IPv6',
      { A: '2a00::/16' },
      ["A: 2a00::/16 is neither private nor reserved, its addresses may be somebody's on the internet"],
    ],
  ];
  it.each(bad)('refuses: %s', (_, ranges, errors) =>
    expect(planRanges(settings(ranges))).toEqual({ ok: false, errors }),
  );

  it('takes public addresses by force, with a warning', () => {
    expect(planRanges(settings({ A: '8.8.0.0/16' }), { force: true })).toMatchObject({
      ok: true,
      warnings: [expect.stringContaining('8.8.0.0/16')],
    });
  });
});
