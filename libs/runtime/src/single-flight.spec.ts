import { SingleFlight } from './single-flight';

/** Work that ends when the test ends it. */
class Works {
  readonly begun: { readonly signal: AbortSignal; readonly end: (result: number) => void }[] = [];
  readonly shared = new SingleFlight<number>(
    (signal) => new Promise<number>((resolve) => this.begun.push({ signal, end: resolve })),
  );

  get aborted(): boolean[] {
    return this.begun.map(({ signal }) => signal.aborted);
  }
}

const gone = new Error('gone');

describe('SingleFlight', () => {
  it('runs once for all callers that wait, and again for later callers', async () => {
    const works = new Works();
    const [a, b] = [new AbortController(), new AbortController()];
    const both = [works.shared.result(a.signal), works.shared.result(b.signal)];
    works.begun[0]?.end(1);
    expect(await Promise.all(both)).toEqual([1, 1]);
    const later = works.shared.result(a.signal);
    works.begun[1]?.end(2);
    expect([await later, works.begun.length]).toEqual([2, 2]);
  });

  it('continues while a caller waits, and aborts with the last one', async () => {
    const works = new Works();
    const [a, b] = [new AbortController(), new AbortController()];
    const [first, second] = [works.shared.result(a.signal), works.shared.result(b.signal)];
    a.abort(gone);
    await expect(first).rejects.toThrow('gone');
    expect(works.aborted).toEqual([false]);
    b.abort(gone);
    await expect(second).rejects.toThrow('gone');
    expect(works.aborted).toEqual([true]);
  });

  it('lets no caller join an aborted run, and starts nothing for a caller whose signal has aborted', async () => {
    const works = new Works();
    const [a, b] = [new AbortController(), new AbortController()];
    const first = works.shared.result(a.signal);
    a.abort(gone);
    await expect(first).rejects.toThrow('gone');
    await expect(works.shared.result(a.signal)).rejects.toThrow('gone');
    const second = works.shared.result(b.signal);
    works.begun[0]?.end(1);
    works.begun[1]?.end(2);
    expect([await second, works.aborted[0], works.begun.length]).toEqual([2, true, 2]);
  });

  it('rejects as the work does, for all callers, and runs again for the next', async () => {
    let tries = 0;
    const shared = new SingleFlight(() => (++tries === 1 ? Promise.reject(new Error('no')) : Promise.resolve(tries)));
    const { signal } = new AbortController();
    const both = [shared.result(signal), shared.result(signal)];
    for (const each of both) await expect(each).rejects.toThrow('no');
    expect(await shared.result(signal)).toBe(2);
  });
});
