import { boundedFields, boundedText, MAX_LINE_LENGTH, MAX_ITEMS } from './bounded-fields';

const LONG = 'x'.repeat(5_000_000);

describe('the fields of a line', () => {
  it('stand as they are while they are short', () => {
    const fields = { zone: 'east', n: 3, on: true, none: null, list: ['a', { b: 1 }], at: { depth: { two: 'c' } } };
    expect(boundedFields(fields)).toEqual(fields);
  });

  it.each([
    ['a text', { text: LONG }],
    ['a key', { [LONG]: 1 }],
    ['a list of texts', { list: Array.from({ length: 50_000 }, () => LONG) }],
    [
      'an object of many fields',
      { object: Object.fromEntries(Array.from({ length: 50_000 }, (_, i) => [`k${i}`, LONG])) },
    ],
    ['many fields', Object.fromEntries(Array.from({ length: 50_000 }, (_, i) => [`k${i}`, i]))],
    [
      'lists in lists',
      { list: Array.from({ length: 50 }, () => Array.from({ length: 50 }, () => Array(50).fill(LONG))) },
    ],
    ['an error', { error: new Error(LONG) }],
    ['bytes', { bytes: new Uint8Array(5_000_000) }],
    ['a set', { set: new Set(Array.from({ length: 50_000 }, (_, i) => i)) }],
    ['a big number', { n: 10n ** 100_000n }],
  ])('are bounded: %s', (_, fields) => {
    expect(JSON.stringify(boundedFields(fields)).length).toBeLessThan(2 * MAX_LINE_LENGTH);
  });

  it('are bounded however deep they are, also where they hold themselves', () => {
    const round: Record<string, unknown> = {};
    round['self'] = [round];
    expect(JSON.stringify(boundedFields({ round }))).toContain('(an object)');
  });

  it('say how much was left out', () => {
    expect(boundedText(LONG)).toMatch(/^x{2000}… \(5000000 characters\)$/);
    expect(boundedFields({ list: Array.from({ length: 30 }, (_, i) => i) })).toEqual({
      list: [...Array.from({ length: MAX_ITEMS }, (_, i) => i), '… (30 items)'],
    });
  });

  it('give message and stack of an error', () => {
    const error = new Error('broken');
    expect(boundedFields({ error })).toEqual({ error: { message: 'broken', stack: error.stack } });
  });
});
