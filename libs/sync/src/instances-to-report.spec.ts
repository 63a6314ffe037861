import fc from 'fast-check';
import { instancesToReport } from './instances-to-report';

describe('how many instances are reported to other zones', () => {
  it.each([
    [undefined, 0, undefined],
    [undefined, 1, undefined],
    [undefined, 2, 2],
    [2, 3, 3],
    [3, 1, undefined],
    [8, 9, 8],
    [8, 10, 10],
    [100, 88, 100],
    [100, 112, 100],
    [100, 87, 87],
    ['odd', 5, 5],
    [undefined, 2_000_000, 100_000],
  ])('of %s, now %d: %s', (before, healthy, received) => {
    expect(instancesToReport(before, healthy)).toBe(received);
  });

  it('is right to an eighth, and does not move while instances go to and fro', () => {
    const count = fc.integer({ min: 2, max: 100_000 });
    fc.assert(
      fc.property(count, fc.array(fc.integer({ min: -1, max: 1 }), { maxLength: 50 }), (start, steps) => {
        const first = instancesToReport(undefined, start);
        let received = first;
        for (const step of steps) {
          const now = Math.max(2, start + step);
          received = instancesToReport(received, now);
          if (Math.abs((received ?? 1) - now) * 8 > (received ?? 1))
            throw new Error(`${now} is received as ${received}`);
        }
        if (start >= 8 && received !== first) throw new Error(`${start} was received anew`);
      }),
    );
  });
});
