import {
  confirmIncarnation,
  isConfirmed,
  judgeIncarnation,
  NO_INCARNATION,
  type KnownIncarnation,
} from './incarnation';

const HOLD = 300;
const held: KnownIncarnation = { accepted: 'a', pending: { incarnation: 'b', since: 100 } };

describe('judgeLife', () => {
  it.each<[string, KnownIncarnation, string, number, ReturnType<typeof judgeIncarnation>]>([
    ['accepts the first life ever seen', NO_INCARNATION, 'a', 0, { known: { accepted: 'a' } }],
    ['knows the accepted life again', { accepted: 'a' }, 'a', 0, { known: { accepted: 'a' } }],
    ['holds a new life', { accepted: 'a' }, 'b', 100, { known: held, heldUntil: 400 }],
    ['holds from the first sight, not from the last', held, 'b', 399, { known: held, heldUntil: 400 }],
    ['accepts it when the time has passed', held, 'b', 400, { known: { accepted: 'b' } }],
    [
      'begins anew for yet another life',
      held,
      'c',
      399,
      { known: { accepted: 'a', pending: { incarnation: 'c', since: 399 } }, heldUntil: 699 },
    ],
    ['forgets a new life that was gone again', held, 'a', 399, { known: { accepted: 'a' } }],
  ])('%s', (...[, known, incarnation, now, want]) => {
    expect(judgeIncarnation(known, incarnation, now, HOLD)).toEqual(want);
  });

  it('gives the same object back when nothing was learnt', () => {
    expect(judgeIncarnation(held, 'b', 200, HOLD).known).toBe(held);
  });
});

describe('confirmLife', () => {
  it('accepts what is pending', () => {
    expect(confirmIncarnation(held)).toEqual({ accepted: 'b' });
    expect(confirmIncarnation({ accepted: 'a' })).toEqual({ accepted: 'a' });
  });
});

describe('isConfirmed', () => {
  it.each<[string, KnownIncarnation, Parameters<typeof isConfirmed>[1], boolean]>([
    ['by a word about the life that is pending', held, { incarnation: 'b', since: 100 }, true],
    ['not by a word about another', held, { incarnation: 'c', since: 100 }, false],
    ['not by a word about an earlier sight of it', held, { incarnation: 'b', since: 50 }, false],
    ['not without a word', held, undefined, false],
    ['not where nothing is pending', { accepted: 'b' }, { incarnation: 'b', since: 100 }, false],
  ])('%s', (_, known, word, want) => {
    expect(isConfirmed(known, word)).toBe(want);
  });
});
