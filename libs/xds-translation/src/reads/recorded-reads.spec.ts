import fc from 'fast-check';
import { Reader, RecordedReads } from './recorded-reads';

/** Sums of cells, each kept until one of its cells is announced as changed. */
class Sums {
  readonly reads = new RecordedReads<string>();
  readonly values = new Map<string, number>();
  made = 0;
  private readonly kept = new Map<string, number>();

  set(cell: string, value: number): void {
    if (this.values.get(cell) === value) return;
    this.values.set(cell, value);
    this.reads.changed(cell);
    for (const { of } of this.reads.takeStale()) this.kept.delete(of);
  }

  sum(cells: readonly string[]): number {
    const key = cells.join(' ');
    const known = this.kept.get(key);
    if (known !== undefined) return known;
    this.made += 1;
    const reader = new Reader(key);
    const sum = this.reads.record({ shared: () => reader, own: () => reader }, () => this.add(cells));
    this.kept.set(key, sum);
    return sum;
  }

  add(cells: readonly string[]): number {
    return cells.reduce((sum, cell) => {
      this.reads.read(cell);
      return sum + (this.values.get(cell) ?? 0);
    }, 0);
  }
}

const cell = fc.constantFrom('a', 'b', 'c', 'd');

describe('RecordedReads', () => {
  it('what is kept is what is made anew, whatever changed, came or was read before it existed', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(cell, fc.nat(2), fc.subarray(['a', 'b', 'c', 'd']))), (steps) => {
        const sums = new Sums();
        for (const [changed, value, asked] of steps) {
          sums.sum(asked);
          sums.set(changed, value);
          for (const [, , each] of steps) expect(sums.sum(each)).toBe(sums.add(each));
        }
      }),
    );
  });

  it('costs a change its own readers, however many others there are', () => {
    const made = (others: number): number => {
      const sums = new Sums();
      for (let n = 0; n < others; n++) sums.sum([`other-${n}`]);
      sums.sum(['a', 'b']);
      sums.sum(['b']);
      const before = sums.made;
      sums.set('b', 1);
      for (let n = 0; n < others; n++) sums.sum([`other-${n}`]);
      sums.sum(['a', 'b']);
      sums.sum(['b']);
      return sums.made - before;
    };
    expect([made(10), made(1_000)]).toEqual([2, 2]);
  });

  it('notes a reader once a cell, and nothing of it once it was taken as stale', () => {
    const reads = new RecordedReads<string>();
    const reader = new Reader('r');
    const read = (): void =>
      reads.record({ shared: () => reader, own: () => reader }, () =>
        ['a', 'b', 'a'].forEach((each) => reads.read(each)),
      );
    read();
    read();
    expect(reads.size).toEqual({ readers: 1, reads: 2 });
    reads.changed('a');
    reads.changed('b', true);
    expect([...reads.takeStale()]).toEqual([{ of: 'r', isGone: true }]);
    expect(reads.size).toEqual({ readers: 0, reads: 0 });
    expect([...reads.takeStale()]).toEqual([]);
  });

  it('gives what is a client’s own to its own reader, and within recordOwn everything to the one that reads alone', () => {
    const reads = new RecordedReads<string>();
    const [shared, own, alone] = ['shared', 'own', 'alone'].map((name) => new Reader(name));
    if (!shared || !own || !alone) throw new Error('no readers');
    reads.record({ shared: () => shared, own: () => own, alone: () => alone }, () => {
      reads.read('all');
      reads.readOwn('mine');
      reads.recordOwn(() => reads.read('inner'));
    });
    reads.read('nobody');
    const staleBy = (changed: string): readonly string[] => {
      reads.changed(changed);
      return [...reads.takeStale()].map(({ of }) => of);
    };
    expect(['all', 'mine', 'inner', 'nobody'].map(staleBy)).toEqual([['shared'], ['own'], ['alone'], []]);
  });
});
