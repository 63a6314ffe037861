import { lostRuleOf, lostSince, type LostRule, type ZoneContact } from './lost-zone';

const RULE: LostRule = { policy: 'withdraw', after: 100 };
const gone: ZoneContact = { connected: false, lastSeen: 1_000, servingSince: 0 };

describe('lostSince', () => {
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
  ])('%s', (...[, contact, now, want]) => expect(lostSince(RULE, contact, now)).toBe(want));
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
  ])('%j', (lost, want) => expect(lostRuleOf(lost, RULE)).toEqual(want));
});
