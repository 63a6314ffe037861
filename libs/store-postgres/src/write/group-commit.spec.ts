import { Unavailable } from '@causeway/resources';
import { RefusedWrite, type WriteRequest, type WriteResult } from '@causeway/store';
import { freshId, put } from '../../../store/src/conformance';
import { FakeClock } from '@causeway/runtime';
import { GroupCommit } from './group-commit';

/** Writes that end when they are told to. */
class PausedWrites {
  readonly asked: WriteRequest[] = [];
  private readonly ends: ((end: WriteResult | Error) => void)[] = [];
  readonly clock = new FakeClock();
  readonly writes = new GroupCommit((request) => {
    this.asked.push(request);
    return new Promise((resolve, reject) =>
      this.ends.push((end) => (end instanceof Error ? reject(end) : resolve(end))),
    );
  }, this.clock);

  /** Ends the write that was asked for as the `at`-th. */
  async end(at: number, result?: WriteResult['results'] | Error): Promise<void> {
    const results = this.asked[at]?.changes.map((_, n) => written(n)) ?? [];
    this.ends[at]?.(result instanceof Error ? result : { revision: 9, results: result ?? results });
    await new Promise((resolve) => setImmediate(resolve));
  }

  /** So many changes each write was asked for. */
  get sizes(): number[] {
    return this.asked.map(({ changes }) => changes.length);
  }

  /** A single change that keeps it busy: what comes after it waits. */
  busy(): Promise<unknown> {
    return this.writes.write(one());
  }
}

const written = (generation: number): WriteResult['results'][number] => ({
  type: 'written',
  created: true,
  revision: 9,
  generation,
  uid: 'u',
});
const one = (onRefusal: WriteRequest['onRefusal'] = 'skip'): WriteRequest => ({ changes: [put(freshId())], onRefusal });

describe('GroupedWrites', () => {
  let gate: PausedWrites;
  beforeEach(() => (gate = new PausedWrites()));

  it('writes one at once, and together what came meanwhile; each has its own answer', async () => {
    const busy = gate.busy();
    const later = Promise.all([one(), one()].map((request) => gate.writes.write(request)));
    expect(gate.sizes).toEqual([1]);
    await gate.end(0);
    expect(gate.sizes).toEqual([1, 2]);
    await gate.end(1);
    await busy;
    expect((await later).map(({ results: [result] }) => result)).toEqual([written(0), written(1)]);
  });

  it('waits a millisecond after a group of several for those who were just answered, and no longer', async () => {
    const busy = gate.busy();
    const first = Promise.all([one(), one(), one()].map((request) => gate.writes.write(request)));
    await gate.end(0);
    await gate.end(1);
    await Promise.all([busy, first]);
    const again = [one(), one()].map((request) => gate.writes.write(request));
    expect(gate.sizes).toEqual([1, 3]);
    void gate.writes.write(one());
    expect(gate.sizes).toEqual([1, 3, 3]);
    await gate.end(2);
    await Promise.all(again);
    void gate.writes.write(one());
    expect(gate.sizes).toEqual([1, 3, 3]);
    gate.clock.advance(1);
    expect(gate.sizes).toEqual([1, 3, 3, 1]);
  });

  it('goes on when a write hangs, with at most three of them under way', async () => {
    void gate.busy();
    const later = gate.writes.write(one());
    gate.clock.advance(24);
    expect(gate.sizes).toEqual([1]);
    gate.clock.advance(1);
    expect(gate.sizes).toEqual([1, 1]);
    await gate.end(1);
    expect((await later).results).toEqual([written(0)]);
    for (let i = 0; i < 4; i++) {
      void gate.writes.write(one());
      gate.clock.advance(25);
    }
    expect(gate.sizes).toEqual([1, 1, 1, 1]);
  });

  it('leaves what is fenced, has notes or several changes as it is', () => {
    const requests = [
      { ...one(), fence: { epoch: 1, holder: 'a' } },
      { ...one(), session: { zone: 'z', session: 1 } },
      { ...one(), notes: [] },
      { ...one(), changes: [put(freshId()), put(freshId())] },
    ];
    for (const request of requests) void gate.writes.write(request);
    expect(gate.asked).toEqual(requests);
  });

  it('throws to each that wants all or nothing what was refused of it', async () => {
    void gate.busy();
    const [good, bad] = [gate.writes.write(one('abort')), gate.writes.write(one('abort'))];
    const refused = expect(bad).rejects.toBeInstanceOf(RefusedWrite);
    await gate.end(0);
    await gate.end(1, [written(0), { type: 'refused', refusal: 'exists', detail: 'there' }]);
    await Promise.all([good, refused]);
  });

  it('lets each bear its own fault', async () => {
    void gate.busy();
    const [bad, good] = [gate.writes.write(one()), gate.writes.write(one())];
    const failed = expect(bad).rejects.toThrow('poison');
    await gate.end(0);
    await gate.end(1, new Error('a fault of the group'));
    await gate.end(2, new Error('poison'));
    await gate.end(3);
    await Promise.all([failed, good]);
  });

  it('tells all of a group that the database is away, and writes none of it again', async () => {
    void gate.busy();
    const away = [gate.writes.write(one()), gate.writes.write(one())].map((each) =>
      expect(each).rejects.toBeInstanceOf(Unavailable),
    );
    await gate.end(0);
    await gate.end(1, new Unavailable('away'));
    await Promise.all(away);
    expect(gate.sizes).toEqual([1, 2]);
  });
});
