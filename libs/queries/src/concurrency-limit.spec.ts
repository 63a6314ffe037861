import { ConcurrencyLimit } from './concurrency-limit';
import { Overloaded } from './errors';

const NEVER = new AbortController().signal;

/** Work that ends when the test ends it. */
function work(): { readonly run: () => Promise<string>; readonly end: () => void; readonly begun: () => boolean } {
  let begun = false;
  let end: () => void = () => undefined;
  const ended = new Promise<string>((resolve) => (end = () => resolve('done')));
  const run = (): Promise<string> => ((begun = true), ended);
  return { run, end: () => end(), begun: () => begun };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('ConcurrencyLimit', () => {
  it('runs so many tasks at once, the others in order, and refuses more than may wait', async () => {
    const limit = new ConcurrencyLimit({ running: 2, queued: 2 });
    const works = Array.from({ length: 5 }, work);
    const results = works.slice(0, 4).map(({ run }) => limit.run(run, NEVER));
    const refused = works[4] && limit.run(works[4].run, NEVER);
    await expect(refused).rejects.toThrow(Overloaded);
    const begun = (): boolean[] => works.map((one) => one.begun());
    expect(begun()).toEqual([true, true, false, false, false]);
    works[1]?.end();
    await turn();
    expect(begun()).toEqual([true, true, true, false, false]);
    for (const { end } of works) end();
    expect(await Promise.all(results)).toEqual(['done', 'done', 'done', 'done']);
  });

  it('hands the slot of a task that failed or was given up to the next', async () => {
    const limit = new ConcurrencyLimit({ running: 1, queued: 5 });
    const first = work();
    const running = limit.run(first.run, NEVER);
    const stop = new AbortController();
    const left = work();
    const leaving = limit.run(left.run, stop.signal);
    const failing = limit.run(() => Promise.reject(new Error('no')), NEVER);
    const last = work();
    const lasting = limit.run(last.run, NEVER);
    stop.abort(new Error('gone'));
    await expect(leaving).rejects.toThrow('gone');
    first.end();
    await running;
    await expect(failing).rejects.toThrow('no');
    last.end();
    expect([await lasting, left.begun()]).toEqual(['done', false]);
  });
});
