import { Gate } from './gate';
import { HttpError } from './http-error';

const NEVER = new AbortController().signal;

/** Work that ends when the test says so. */
function work(): { readonly run: () => Promise<string>; readonly end: () => void; readonly begun: () => boolean } {
  let begun = false;
  let end: () => void = () => undefined;
  const ended = new Promise<string>((resolve) => (end = () => resolve('done')));
  const run = (): Promise<string> => ((begun = true), ended);
  return { run, end: () => end(), begun: () => begun };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('Gate', () => {
  it('lets so many work at once, the others in order, and refuses more than may wait', async () => {
    const gate = new Gate({ most: 2, waiting: 2 });
    const works = Array.from({ length: 5 }, work);
    const results = works.slice(0, 4).map(({ run }) => gate.run(run, NEVER));
    const refused = works[4] && gate.run(works[4].run, NEVER);
    await expect(refused).rejects.toThrow(HttpError);
    const begun = (): boolean[] => works.map((one) => one.begun());
    expect(begun()).toEqual([true, true, false, false, false]);
    works[1]?.end();
    await turn();
    expect(begun()).toEqual([true, true, true, false, false]);
    for (const { end } of works) end();
    expect(await Promise.all(results)).toEqual(['done', 'done', 'done', 'done']);
  });

  it('gives the place of one that failed or gave up to the next', async () => {
    const gate = new Gate({ most: 1, waiting: 5 });
    const first = work();
    const running = gate.run(first.run, NEVER);
    const stop = new AbortController();
    const left = work();
    const leaving = gate.run(left.run, stop.signal);
    const failing = gate.run(() => Promise.reject(new Error('no')), NEVER);
    const last = work();
    const lasting = gate.run(last.run, NEVER);
    stop.abort(new Error('gone'));
    await expect(leaving).rejects.toThrow('gone');
    first.end();
    await running;
    await expect(failing).rejects.toThrow('no');
    last.end();
    expect([await lasting, left.begun()]).toEqual(['done', false]);
  });
});
