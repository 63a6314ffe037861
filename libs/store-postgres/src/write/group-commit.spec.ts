import { Unavailable } from '@causeway/resources';
import { RefusedWrite, type WriteRequest, type WriteResult } from '@causeway/store';
import { freshId, put } from '@causeway/store/testing';
import { FakeClock } from '@causeway/runtime/testing';
import { GroupCommit } from './group-commit';

/** Writes that end when the test ends them. */
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

  /** A single change that keeps it busy: later ones wait. */
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

describe('GroupCommit', () => {
  let paused: PausedWrites;
  beforeEach(() => (paused = new PausedWrites()));

  it('writes one at once, and together what came meanwhile; each has its own answer', async () => {
    const busy = paused.busy();
    const later = Promise.all([one(), one()].map((request) => paused.writes.write(request)));
    expect(paused.sizes).toEqual([1]);
    await paused.end(0);
    expect(paused.sizes).toEqual([1, 2]);
    await paused.end(1);
    await busy;
    expect((await later).map(({ results: [result] }) => result)).toEqual([written(0), written(1)]);
  });

  it('waits a millisecond after a group of several for those who were just answered, and no longer', async () => {
    const busy = paused.busy();
    const first = Promise.all([one(), one(), one()].map((request) => paused.writes.write(request)));
    await paused.end(0);
    await paused.end(1);
    await Promise.all([busy, first]);
    const again = [one(), one()].map((request) => paused.writes.write(request));
    expect(paused.sizes).toEqual([1, 3]);
    void paused.writes.write(one());
    expect(paused.sizes).toEqual([1, 3, 3]);
    await paused.end(2);
    await Promise.all(again);
    void paused.writes.write(one());
    expect(paused.sizes).toEqual([1, 3, 3]);
    paused.clock.advance(1);
    expect(paused.sizes).toEqual([1, 3, 3, 1]);
  });

  it('goes on when a write hangs, with at most three of them under way', async () => {
    void paused.busy();
    const later = paused.writes.write(one());
    paused.clock.advance(24);
    expect(paused.sizes).toEqual([1]);
    paused.clock.advance(1);
    expect(paused.sizes).toEqual([1, 1]);
    await paused.end(1);
    expect((await later).results).toEqual([written(0)]);
    for (let i = 0; i < 4; i++) {
      void paused.writes.write(one());
      paused.clock.advance(25);
    }
    expect(paused.sizes).toEqual([1, 1, 1, 1]);
  });

  it('does not group several changes, those of a session, or metadata that depends on what becomes of its change', () => {
    const entry = { area: 'a', key: 'k', value: {} };
    const requests: WriteRequest[] = [
      { ...one(), session: { zone: 'z', session: 1 } },
      { ...one('abort'), metadata: [entry] },
      { ...one(), metadata: [{ ...entry, unlessRaised: true }] },
      { ...one(), changes: [put(freshId()), put(freshId())] },
      { ...one(), unchanged: { revision: 1, mesh: 'm' } },
    ];
    for (const request of requests) void paused.writes.write(request);
    expect(paused.asked).toEqual(requests);
  });

  it('groups the writes of one leader, with all their metadata, and no others with them', async () => {
    void paused.busy();
    const fence = { epoch: 1, holder: 'a' };
    const metadata = ['x', 'y'].map((key) => ({ area: 'a', key, value: {} }));
    const requests: WriteRequest[] = [
      { ...one(), fence },
      one(),
      { ...one(), fence: { ...fence }, metadata: metadata.slice(0, 1) },
      { ...one(), fence: { ...fence, epoch: 2 } },
      { ...one(), fence, metadata: metadata.slice(1) },
    ];
    for (const request of requests) void paused.writes.write(request);
    for (const at of [0, 1]) await paused.end(at);
    paused.clock.advance(1);
    for (const at of [2, 3]) await paused.end(at);
    expect(paused.asked.slice(1)).toEqual([
      { changes: [0, 2, 4].flatMap((at) => requests[at]?.changes ?? []), onRefusal: 'skip', fence, metadata },
      requests[1],
      requests[3],
    ]);
  });

  it('checks together what its changes were decided from, and each alone if that has changed', async () => {
    const busy = paused.busy();
    const read = [undefined, { revision: 7, kinds: ['a'] }, { revision: 5, kinds: ['a', 'b'] }];
    const requests = read.map((unchanged) => ({ ...one(), ...(unchanged ? { unchanged } : {}) }));
    const answers = Promise.all(requests.map((request) => paused.writes.write(request)));
    await paused.end(0);
    expect(paused.asked[1]?.unchanged).toEqual({ revision: 5, kinds: ['a', 'b'] });
    await paused.end(
      1,
      read.map(() => ({ type: 'refused', refusal: 'outdated', detail: '' })),
    );
    for (const at of [2, 3]) await paused.end(at);
    await paused.end(4, [{ type: 'refused', refusal: 'outdated', detail: 'b' }]);
    expect(paused.asked.slice(2)).toEqual(requests);
    expect((await answers).map(({ results: [result] }) => result?.type)).toEqual(['written', 'written', 'refused']);
    await busy;
  });

  it('rejects a refused change that wants all or nothing', async () => {
    void paused.busy();
    const [good, bad] = [paused.writes.write(one('abort')), paused.writes.write(one('abort'))];
    const refused = expect(bad).rejects.toBeInstanceOf(RefusedWrite);
    await paused.end(0);
    await paused.end(1, [written(0), { type: 'refused', refusal: 'exists', detail: 'there' }]);
    await Promise.all([good, refused]);
  });

  it('rejects only the change at fault', async () => {
    void paused.busy();
    const [bad, good] = [paused.writes.write(one()), paused.writes.write(one())];
    const failed = expect(bad).rejects.toThrow('poison');
    await paused.end(0);
    await paused.end(1, new Error('a fault of the group'));
    await paused.end(2, new Error('poison'));
    await paused.end(3);
    await Promise.all([failed, good]);
  });

  it('rejects a whole group when the database is away, and writes none of it again', async () => {
    void paused.busy();
    const away = [paused.writes.write(one()), paused.writes.write(one())].map((each) =>
      expect(each).rejects.toBeInstanceOf(Unavailable),
    );
    await paused.end(0);
    await paused.end(1, new Unavailable('away'));
    await Promise.all(away);
    expect(paused.sizes).toEqual([1, 2]);
  });
});
