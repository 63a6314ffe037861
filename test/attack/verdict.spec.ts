import type { Write } from './load';
import { judge, tableOf, type PlaneFigures, type Seen } from './verdict';

const phases = { began: 0, attackFrom: 10_000, attackUntil: 20_000, ended: 60_000 };

/** Ten writes a second, each seen after so long. */
function writes(took: (due: number) => number | undefined): Write[] {
  return Array.from({ length: 600 }, (_, n) => {
    const due = n * 100;
    const ms = took(due);
    return { service: 's', port: n, due, answered: due + 5, ...(ms === undefined ? {} : { seen: due + ms }) };
  });
}

const plane: PlaneFigures = { name: 'global', peakMb: 300, termsBefore: 1, termsAfter: 1, fell: false };
const calm: Seen = { seconds: 10, phases, writes: writes(() => 50), lost: [], planes: [plane], attacks: {} };

describe('the verdict on an attack run', () => {
  it('finds nothing in a run that kept all bounds', () => {
    expect(judge(calm, true)).toMatchObject({
      broken: [],
      settledMs: 0,
      leasesLost: 0,
      before: { p99: 50, writes: 100 },
    });
  });

  it.each<[string, Partial<Seen>, string]>([
    ['memory beyond 1 GB', { planes: [{ ...plane, peakMb: 1_001 }] }, 'global grew to 1001 MB'],
    ['a lease that was lost', { planes: [{ ...plane, termsAfter: 3 }] }, '2 leases were lost'],
    ['a lease of which nobody can tell', { planes: [{ ...plane, termsAfter: NaN }] }, 'global does not tell its epoch'],
    ['a process that ended', { planes: [{ ...plane, fell: true }] }, 'global ended'],
    ['a write that is gone', { lost: ['west lacks s'] }, 'west lacks s'],
    [
      'something that must never work',
      { attacks: { BREACH: { 'somebody without credentials wrote': 2 } } },
      'somebody without credentials wrote',
    ],
    ['no load to judge by', { writes: [] }, 'there was no load before the attack'],
    ['attacks that never struck', { attacks: { flood: {} } }, 'flood never struck'],
  ])('names %s', (_, seen, broken) => {
    expect(judge({ ...calm, ...seen }, false).broken).toContain(broken);
  });

  it('tells how long it took to be as before', () => {
    const slowUntil = (end: number) => writes((due) => (due >= 15_000 && due < end ? 3_000 : 50));
    expect(judge({ ...calm, writes: slowUntil(25_000) }, true)).toMatchObject({ settledMs: 7_900, broken: [] });
    expect(judge({ ...calm, writes: slowUntil(55_000) }, true).broken).toEqual(['it took 37900 ms to be as before']);
    expect(judge({ ...calm, writes: slowUntil(55_000) }, false).broken).toEqual([]);
    expect(judge({ ...calm, writes: writes((due) => (due < 15_000 ? 50 : undefined)) }, true).broken).toEqual([
      'it was not as before when the run ended',
    ]);
  });

  it('counts a write that nobody saw as slow as the run was long', () => {
    const verdict = judge({ ...calm, writes: writes((due) => (due === 12_000 ? undefined : 50)) }, true);
    expect(verdict.during.max).toBe(48_000);
  });

  it('reads as a table', () => {
    expect(tableOf(judge({ ...calm, attacks: { flood: { 'ended: too much': 3 } } }, true))).toContain(
      '| flood | 3× ended: too much |',
    );
  });
});
