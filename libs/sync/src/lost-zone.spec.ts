import {
  readLostRule,
  readLostRules,
  findLostSince,
  readLostState,
  computeZoneLoss,
  type LostRule,
  type ZoneContact,
} from './lost-zone';

const RULE: LostRule = { policy: 'withdraw', after: 100 };
const gone: ZoneContact = { connected: false, lastSeen: 1_000, servingSince: 0 };

describe('findLostSince', () => {
  it.each<[string, ZoneContact, number, number | undefined]>([
    ['a connected zone', { ...gone, connected: true }, 9_999, undefined],
    ['a zone that never was there', { ...gone, lastSeen: undefined }, 9_999, undefined],
    ['just before the time', gone, 1_099, undefined],
    ['at the time', gone, 1_100, 1_000],
    ['while the global was away itself', { ...gone, servingSince: 5_000 }, 5_099, undefined],
    ['after the global has served long enough', { ...gone, servingSince: 5_000 }, 5_100, 5_000],
    [
      'lost already, under a leader that has just begun',
      { ...gone, servingSince: 1_150, reportedSince: 1_000 },
      1_151,
      1_000,
    ],
    ['lost already and back', { ...gone, connected: true, reportedSince: 1_000 }, 1_151, undefined],
    ['lost already, but no longer by its rule', { ...gone, reportedSince: 1_000 }, 1_050, undefined],
  ])('%s', (...[, contact, now, want]) => expect(findLostSince(RULE, contact, now)).toBe(want));
});

describe('lostRuleOf', () => {
  it.each<[unknown, LostRule]>([
    [undefined, RULE],
    [{ policy: 'keep' }, { policy: 'keep', after: 100 }],
    [
      { policy: 'depreferred', after: '2m' },
      { policy: 'depreferred', after: 120_000 },
    ],
    [{ policy: 'of a later version', after: 'soon' }, RULE],
    [{ after: '3h' }, { policy: 'withdraw', after: 10_800_000 }],
  ])('%j', (lost, want) => expect(readLostRule(lost, RULE)).toEqual(want));
});

describe('a zone that is lost for some meshes and not for others', () => {
  const minute = 60_000;
  const configured: LostRule = { policy: 'keep', after: 5 * minute };
  const meshes = new Map<string, unknown>([
    ['early', { policy: 'withdraw', after: '1m' }],
    ['late', { policy: 'depreferred', after: '10m' }],
    ['other', { policy: 'withdraw' }],
    ['same', { policy: 'keep' }],
  ]);
  const seen = (lost: unknown, away: number): unknown[] => {
    const loss = computeZoneLoss(readLostRules(lost, meshes, configured), away, 'then');
    const status = loss ? { lost: { ...loss } } : {};
    return ['', ...meshes.keys()].map((mesh) => readLostState({ status }, mesh)?.policy);
  };

  it.each([
    ['nobody', undefined, minute - 1, [undefined, undefined, undefined, undefined, undefined]],
    ['the first mesh', undefined, minute, [undefined, 'withdraw', undefined, undefined, undefined]],
    ['all but the last', undefined, 5 * minute, ['keep', 'withdraw', undefined, 'withdraw', 'keep']],
    ['each by its own policy', undefined, 10 * minute, ['keep', 'withdraw', 'depreferred', 'withdraw', 'keep']],
    [
      'the Zone’s own policy',
      { policy: 'withdraw' },
      5 * minute,
      ['withdraw', 'withdraw', undefined, 'withdraw', 'withdraw'],
    ],
    ['the Zone’s own rule', { policy: 'keep', after: '2m' }, 2 * minute, ['keep', 'keep', 'keep', 'keep', 'keep']],
    [
      'the Zone’s own time',
      { policy: 'keep', after: '2m' },
      2 * minute - 1,
      [undefined, undefined, undefined, undefined, undefined],
    ],
  ])('for %s', (_, lost, away, want) => expect(seen(lost, away)).toEqual(want));

  it('is said as short as can be', () => {
    const loss = (away: number): unknown => computeZoneLoss(readLostRules(undefined, meshes, configured), away, 'then');
    expect(loss(minute)).toEqual({ since: 'then', meshes: { early: 'withdraw' } });
    expect(loss(5 * minute)).toEqual({
      since: 'then',
      policy: 'keep',
      meshes: { early: 'withdraw', late: 'none', other: 'withdraw' },
    });
  });
});
