import { compareText, globalIdentity } from '@causeway/resources';
import type { Change } from '@causeway/store';
import { DelayQueue } from './delay-queue';
import { planBatch, WorkQueue } from './work-queue';

function drained(keys: WorkQueue<string>): string[] {
  const taken: string[] = [];
  for (let key = keys.take(); key !== undefined; key = keys.take()) taken.push(key);
  return taken;
}

describe('WorkQueue', () => {
  it('gives each key once, in order, what was marked last first', () => {
    const keys = new WorkQueue<string>(compareText);
    for (const key of ['b', 'a', 'b', 'd']) keys.add(key);
    expect(keys.take()).toBe('a');
    for (const key of ['c', 'd']) keys.add(key);
    expect(keys.size).toBe(3);
    expect(drained(keys)).toEqual(['c', 'd', 'b']);
    expect(keys.size).toBe(0);
  });

  it('takes keys that are in order already', () => {
    const keys = new WorkQueue<string>(compareText);
    keys.addSorted(['z', 'y', 'x']);
    keys.add('a');
    expect(drained(keys)).toEqual(['a', 'z', 'y', 'x']);
  });
});

describe('decideStale', () => {
  const change = (name: string): Change => ({
    type: 'delete',
    id: globalIdentity('Mesh', name),
    expect: 'any',
  });

  it('ends with the batch, and with the number of keys looked at', () => {
    const keys = new WorkQueue<string>(compareText);
    for (let i = 0; i < 12_000; i++) keys.add(`k${i}`);
    expect(planBatch(keys, { changes: 3 }, change)).toMatchObject({ changes: [{}, {}, {}], more: true });
    const looks = [0, 0, 0].map((_, turn) => {
      const before = keys.size;
      expect(planBatch(keys, { changes: 3 }, () => undefined)).toEqual({ changes: [], more: turn < 2 });
      return before - keys.size;
    });
    expect(looks).toEqual([5_000, 5_000, 1_997]);
    for (let i = 0; i < 10; i++) keys.add(`k${i}`);
    expect(planBatch(keys, { changes: 3, keys: 9 }, () => undefined)).toEqual({ changes: [], more: true });
  });
});

describe('DelayQueue', () => {
  it('knows the next time through additions, moves and removals', () => {
    const due = new DelayQueue<string>();
    expect(due.nextDue).toBeUndefined();
    due.set('a', 10);
    due.set('b', 5);
    expect([due.nextDue, due.dueAt(4), due.dueAt(5)]).toEqual([5, [], ['b']]);
    due.set('b', 20);
    expect(due.nextDue).toBe(10);
    due.set('a', undefined);
    expect([due.nextDue, due.size, due.keys()]).toEqual([20, 1, ['b']]);
    due.set('b', undefined);
    expect(due.nextDue).toBeUndefined();
    expect(due.dueAt(100)).toEqual([]);
  });
});
