import { statusAsRead, withCondition, withConditionsFrom, withoutConditions, type Condition } from './condition';
import { globalIdentity } from './identity';
import { isJsonObject, type JsonObject } from './json';

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

  const types = (status: JsonObject): readonly unknown[] =>
    [status['conditions']].flat().map((one) => (isJsonObject(one) ? one['type'] : one));
  const full = (count: number): JsonObject => ({
    conditions: Array.from({ length: count }, (_, i) => ({ type: `T${i}`, status: 'True' })),
  });

  it('T000-36 the list has one entry a type; of doubles the last wins', () => {
    const doubled = { conditions: [{ type: 'Mine', status: 'True' }, other, { type: 'Mine', status: 'Unknown' }] };
    const next = withCondition(doubled, { ...stated, status: 'False' }, T0);
    expect(next).toEqual({ conditions: [{ ...stated, status: 'False', lastTransitionTime: AT0 }, other] });
  });

  it('T000-36 an eighth type is written however often the others are there, a ninth is refused, one of the eight can still change', () => {
    const eight = withCondition(full(7), stated, T0);
    expect(types(eight)).toEqual(['T0', 'T1', 'T2', 'T3', 'T4', 'T5', 'T6', 'Mine']);
    expect(withCondition(eight, { ...stated, type: 'Ninth' }, T0)).toBe(eight);
    const doubles = { conditions: Array(9).fill({ type: 'T', status: 'True' }) };
    expect(types(withCondition(doubles, stated, T0))).toEqual(['T', 'Mine']);
    const changed = withCondition(eight, { ...stated, status: 'False' }, T0);
    expect([types(changed), changed]).toEqual([types(eight), expect.not.objectContaining(eight)]);
    const own = { conditions: [{ type: 'Mine' }, { type: 'Mine', status: 'True' }, { type: 'Too' }] };
    const joined = withConditionsFrom(full(9), ['Mine', 'Too'], own);
    expect(types(joined)).toEqual(['T0', 'T1', 'T2', 'T3', 'T4', 'T5', 'Mine', 'Too']);
  });
});

describe('statusAsRead', () => {
  const kind = { derive: ({ name }: { readonly name: string }) => ({ alias: name }), pending: ['Accepted'] };
  const pending = {
    type: 'Accepted',
    status: 'Unknown',
    reason: 'Pending',
    message: 'Waiting for controller',
    lastTransitionTime: '1970-01-01T00:00:00Z',
  };
  const read = (status?: JsonObject): JsonObject | undefined =>
    statusAsRead(kind, { id: globalIdentity('Mesh', 'a'), spec: {}, ...(status ? { status } : {}) });

  it.each<[string, JsonObject | undefined, JsonObject]>([
    ['nothing is stored', undefined, { alias: 'a', conditions: [pending] }],
    [
      'something else is stored',
      { vip: 'x', conditions: [other] },
      { vip: 'x', alias: 'a', conditions: [pending, other] },
    ],
    [
      'it is stored',
      { alias: 'b', conditions: [{ type: 'Accepted' }] },
      { alias: 'a', conditions: [{ type: 'Accepted' }] },
    ],
  ])('T000-25 T003-04 where %s', (_, status, want) => {
    const before = JSON.stringify(status);
    expect(read(status)).toEqual(want);
    expect(JSON.stringify(status)).toBe(before);
  });

  it('is the stored one for a kind that derives nothing', () => {
    const status = { vip: 'x' };
    const plain = { derive: () => ({}), pending: [] };
    expect(statusAsRead(plain, { id: globalIdentity('Zone', 'a'), spec: {}, status })).toBe(status);
    expect(statusAsRead(plain, { id: globalIdentity('Zone', 'a'), spec: {} })).toBeUndefined();
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
    expect(withConditionsFrom({ ...status }, ['Mine'], { ...source })).toEqual(want);
  });
});
