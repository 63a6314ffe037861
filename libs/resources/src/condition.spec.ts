import { withCondition, withConditionsOf, withoutConditions, type Condition } from './condition';

const T0 = Date.parse('2026-01-01T00:00:00Z');
const [AT0, AT1] = ['2026-01-01T00:00:00.000Z', '2026-01-01T00:00:01.000Z'];
const stated: Condition = { type: 'Mine', status: 'True', reason: 'Fine', message: '', observedGeneration: 1 };
const other = { type: 'Theirs', status: 'False', reason: 'Why', message: 'so', lastTransitionTime: AT0 };

describe('withCondition', () => {
  const stored = { vip: 'x', conditions: [{ ...stated, lastTransitionTime: AT0 }, other] };
  it.each<[string, object, Condition, object]>([
    ['adds a first one', { vip: 'x' }, stated, { vip: 'x', conditions: [{ ...stated, lastTransitionTime: AT1 }] }],
    [
      'leaves other writers alone',
      { conditions: [other] },
      stated,
      { conditions: [other, { ...stated, lastTransitionTime: AT1 }] },
    ],
    [
      'moves the time when the status does',
      stored,
      { ...stated, status: 'False' },
      { vip: 'x', conditions: [{ ...stated, status: 'False', lastTransitionTime: AT1 }, other] },
    ],
    [
      'keeps the time when only reason, message or generation change',
      stored,
      { ...stated, reason: 'Better', message: 'now', observedGeneration: 2 },
      {
        vip: 'x',
        conditions: [
          { ...stated, reason: 'Better', message: 'now', observedGeneration: 2, lastTransitionTime: AT0 },
          other,
        ],
      },
    ],
  ])('%s', (_, status, next, want) => expect(withCondition({ ...status }, next, T0 + 1_000)).toEqual(want));

  it('I10 gives the same object back when nothing changes', () => {
    expect(withCondition(stored, { ...stated }, T0 + 1_000)).toBe(stored);
  });
});

describe('withoutConditions', () => {
  const mine = { type: 'Mine', status: 'True' };
  it.each<[string, object, readonly string[], object]>([
    ['takes one away', { vip: 'x', conditions: [mine, other] }, ['Mine'], { vip: 'x', conditions: [other] }],
    ['leaves no empty list', { vip: 'x', conditions: [mine] }, ['Mine'], { vip: 'x' }],
    ['keeps what is no condition', { conditions: ['odd', mine] }, ['Mine'], { conditions: ['odd'] }],
  ])('%s', (_, status, types, want) => expect(withoutConditions({ ...status }, types)).toEqual(want));

  it('I10 gives the same object back when nothing changes', () => {
    const status = { conditions: [other] };
    expect(withoutConditions(status, ['Mine'])).toBe(status);
  });
});

describe('withConditionsOf', () => {
  const [mine, taken] = [
    { type: 'Mine', status: 'True' },
    { type: 'Mine', status: 'False' },
  ];
  it.each<[string, object, object, object]>([
    [
      'takes those of the types from the source',
      { vip: 'x' },
      { conditions: [mine, other] },
      { vip: 'x', conditions: [mine] },
    ],
    ['replaces its own', { conditions: [taken, other] }, { conditions: [mine] }, { conditions: [other, mine] }],
    ['drops them where the source has none', { conditions: [taken] }, {}, {}],
  ])('%s', (_, status, source, want) => {
    expect(withConditionsOf({ ...status }, ['Mine'], { ...source })).toEqual(want);
  });
});
