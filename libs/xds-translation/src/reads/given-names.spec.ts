import fc from 'fast-check';
import { GivenNames } from './given-names';

describe('names that several sources give', () => {
  it('are those of all sources, whatever was given before', () => {
    const given = fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.array(fc.constantFrom('x', 'y', 'z'), { maxLength: 4 }));
    fc.assert(
      fc.property(fc.array(given, { maxLength: 30 }), (changes) => {
        const names = new GivenNames();
        const now = new Map<string, readonly string[]>();
        for (const [source, of] of changes) {
          names.give(source, of);
          now.set(source, of);
          expect([...names.names].sort()).toEqual([...new Set([...now.values()].flat())].sort());
        }
      }),
    );
  });
});
