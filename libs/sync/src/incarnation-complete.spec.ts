import { isIncarnationComplete, type AwaitedZone } from './incarnation-complete';

const zone = (rest: Partial<AwaitedZone> = {}): AwaitedZone => ({
  enabled: true,
  hadSession: true,
  reported: true,
  ...rest,
});
const EARLY = { since: 1_000, hold: 100, now: 1_099 };

describe('isWholeLife', () => {
  it.each<[string, readonly AwaitedZone[], boolean]>([
    ['no zone is known', [], true],
    ['all have reported', [zone(), zone()], true],
    ['one has not', [zone(), zone({ reported: false })], false],
    ['one has not, and is disabled', [zone(), zone({ reported: false, enabled: false })], true],
    ['one has not, and never had a session', [zone(), zone({ reported: false, hadSession: false })], true],
  ])('%s', (_, zones, want) => expect(isIncarnationComplete(zones, EARLY)).toBe(want));

  it('waits no longer than the time', () => {
    expect(isIncarnationComplete([zone({ reported: false })], { ...EARLY, now: 1_100 })).toBe(true);
  });
});
