import {
  confirmIncarnation,
  isConfirmed,
  decideIncarnation,
  isIncarnationComplete,
  NO_INCARNATION,
  type AwaitedZone,
  type KnownIncarnation,
} from './incarnation';

const HOLD = 300;
const held: KnownIncarnation = { accepted: 'a', pending: { incarnation: 'b', since: 100 } };

describe('judgeIncarnation', () => {
  it.each<[string, KnownIncarnation, string, number, ReturnType<typeof decideIncarnation>]>([
    ['accepts the first incarnation ever seen', NO_INCARNATION, 'a', 0, { known: { accepted: 'a' } }],
    ['recognises the accepted incarnation', { accepted: 'a' }, 'a', 0, { known: { accepted: 'a' } }],
    ['holds the absences of a new incarnation', { accepted: 'a' }, 'b', 100, { known: held, heldUntil: 400 }],
    ['holds from the first sight, not from the last', held, 'b', 399, { known: held, heldUntil: 400 }],
    ['accepts it when the time has passed', held, 'b', 400, { known: { accepted: 'b' } }],
    [
      'starts the time again for a third incarnation',
      held,
      'c',
      399,
      { known: { accepted: 'a', pending: { incarnation: 'c', since: 399 } }, heldUntil: 699 },
    ],
    ['forgets a pending incarnation when the accepted one is back', held, 'a', 399, { known: { accepted: 'a' } }],
  ])('%s', (...[, known, incarnation, now, want]) => {
    expect(decideIncarnation(known, incarnation, now, HOLD)).toEqual(want);
  });

  it('returns the same object if nothing changed', () => {
    expect(decideIncarnation(held, 'b', 200, HOLD).known).toBe(held);
  });
});

describe('confirmIncarnation', () => {
  it('accepts what is pending', () => {
    expect(confirmIncarnation(held)).toEqual({ accepted: 'b' });
    expect(confirmIncarnation({ accepted: 'a' })).toEqual({ accepted: 'a' });
  });
});

describe('isConfirmed', () => {
  it.each<[string, KnownIncarnation, Parameters<typeof isConfirmed>[1], boolean]>([
    ['by a confirmation of the pending incarnation', held, { incarnation: 'b', since: 100 }, true],
    ['not by a confirmation of another one', held, { incarnation: 'c', since: 100 }, false],
    ['not by a confirmation of an earlier sight of it', held, { incarnation: 'b', since: 50 }, false],
    ['not without a confirmation', held, undefined, false],
    ['not where nothing is pending', { accepted: 'b' }, { incarnation: 'b', since: 100 }, false],
  ])('%s', (_, known, confirmation, want) => {
    expect(isConfirmed(known, confirmation)).toBe(want);
  });
});

const zone = (rest: Partial<AwaitedZone> = {}): AwaitedZone => ({
  enabled: true,
  hadSession: true,
  reported: true,
  ...rest,
});
const EARLY = { since: 1_000, hold: 100, now: 1_099 };

describe('isIncarnationComplete', () => {
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
