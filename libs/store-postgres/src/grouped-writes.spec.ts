import { Unavailable } from '@causeway/resources';
import { RefusedWrite, type WriteRequest, type WriteResult } from '@causeway/store';
import { freshId, put } from '../../store/src/conformance';
import { GroupedWrites } from './grouped-writes';

/** Writes that end when they are told to. */
class Gate {
  readonly asked: WriteRequest[] = [];
  private readonly ends: ((end: WriteResult | Error) => void)[] = [];
  readonly writes = new GroupedWrites((request) => {
    this.asked.push(request);
    return new Promise((resolve, reject) =>
      this.ends.push((end) => (end instanceof Error ? reject(end) : resolve(end))),
    );
  });

  async end(result?: Error): Promise<void> {
    const end = this.ends.shift();
    const changes = this.asked.at(-1)?.changes ?? [];
    end?.(result ?? { revision: 9, results: changes.map((_, n) => written(n)) });
    await new Promise((resolve) => setImmediate(resolve));
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
  it('writes the first at once, and together what came meanwhile; each has its own answer', async () => {
    const gate = new Gate();
    const results = Promise.all([one(), one(), one()].map((request) => gate.writes.write(request)));
    expect(gate.asked.map(({ changes }) => changes.length)).toEqual([1]);
    await gate.end();
    expect(gate.asked.map(({ changes }) => changes.length)).toEqual([1, 2]);
    await gate.end();
    expect((await results).map(({ results: [result] }) => result)).toEqual([written(0), written(0), written(1)]);
  });

  it('leaves what is fenced, has notes or several changes as it is', async () => {
    const gate = new Gate();
    const several = { ...one(), changes: [put(freshId()), put(freshId())] };
    const requests = [
      { ...one(), fence: { epoch: 1, holder: 'a' } },
      { ...one(), session: { zone: 'z', session: 1 } },
      { ...one(), notes: [] },
      several,
    ];
    for (const request of requests) void gate.writes.write(request);
    expect(gate.asked).toEqual(requests);
    for (const _ of requests) await gate.end();
  });

  it('throws to each that wants all or nothing what was refused of it', async () => {
    const gate = new Gate();
    const first = gate.writes.write(one());
    const [good, bad] = [gate.writes.write(one('abort')), gate.writes.write(one('abort'))];
    const refused = expect(bad).rejects.toBeInstanceOf(RefusedWrite);
    await gate.end();
    gate.asked.at(-1);
    const end = gate['ends'].shift();
    end?.({ revision: 9, results: [written(0), { type: 'refused', refusal: 'exists', detail: 'there' }] });
    await Promise.all([first, good, refused]);
  });

  it('lets each bear its own fault, but all that the database is away', async () => {
    const gate = new Gate();
    const first = gate.writes.write(one());
    const [a, b] = [gate.writes.write(one()), gate.writes.write(one())];
    const failed = expect(a).rejects.toThrow('poison');
    await gate.end();
    await gate.end(new Error('a fault of the group'));
    await gate.end(new Error('poison'));
    await gate.end();
    await Promise.all([first, failed, b]);
    const last = gate.writes.write(one());
    const away = [gate.writes.write(one()), gate.writes.write(one())].map((each) =>
      expect(each).rejects.toBeInstanceOf(Unavailable),
    );
    await gate.end();
    await gate.end(new Unavailable('away'));
    await Promise.all([last, ...away]);
  });
});
