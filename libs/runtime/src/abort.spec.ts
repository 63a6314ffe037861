import { getEventListeners } from 'node:events';
import { onAbort, orAborted, sharedAbortController, underSignals, withDeadline } from './abort';
import { FakeClock } from '../testing/fake-clock';

describe('work that may be aborted', () => {
  it('leaves no uncaught rejection behind, whenever it fails', async () => {
    const uncaught: unknown[] = [];
    const onRejection = (error: unknown): void => void uncaught.push(error);
    process.on('unhandledRejection', onRejection);
    let fail = (_: Error): void => undefined;
    const later = new Promise<never>((_, reject) => (fail = reject));
    const over = new AbortController();
    const waiting = orAborted(later, over.signal);
    over.abort(new Error('over'));
    await expect(waiting).rejects.toThrow('over');
    await expect(orAborted(Promise.reject(new Error('fenced')), over.signal)).rejects.toThrow('over');
    fail(new Error('fenced later'));
    await new Promise((resolve) => setImmediate(resolve));
    process.off('unhandledRejection', onRejection);
    expect(uncaught).toEqual([]);
  });

  it('may be of as many parts as a program has, and more of them is a leak that Node tells', async () => {
    const warnings: string[] = [];
    const heard = ({ name }: Error): void => void warnings.push(name);
    process.on('warning', heard);
    const { signal } = sharedAbortController();
    const listen = async (parts: number): Promise<readonly string[]> => {
      for (let n = 0; n < parts; n++) onAbort(signal, () => undefined);
      await new Promise((resolve) => setImmediate(resolve));
      return [...warnings];
    };
    expect([await listen(60), await listen(60)]).toEqual([[], ['MaxListenersExceededWarning']]);
    process.off('warning', heard);
  });

  it('is called for an abort that was before it listened, once, and not after it took its listener back', () => {
    const over = new AbortController();
    let [early, back, late] = [0, 0, 0];
    onAbort(over.signal, () => early++);
    onAbort(over.signal, () => back++)();
    over.abort();
    onAbort(over.signal, () => late++);
    expect([early, back, late]).toEqual([1, 0, 1]);
  });

  it('ends with the first of several signals, and leaves nothing in them when its work has ended', async () => {
    const [lasts, first] = [new AbortController(), new AbortController()];
    for (let n = 0; n < 3; n++) await underSignals([lasts.signal, first.signal], () => Promise.resolve());
    const held = (): number[] => [lasts, first].map(({ signal }) => getEventListeners(signal, 'abort').length);
    expect(held()).toEqual([0, 0]);
    const waiting = underSignals([lasts.signal, first.signal], (signal) =>
      orAborted(new Promise(() => undefined), signal),
    );
    expect(held()).toEqual([1, 1]);
    first.abort(new Error('first'));
    await expect(waiting).rejects.toThrow('first');
    expect(held()).toEqual([0, 0]);
    await expect(underSignals([lasts.signal, first.signal], (signal) => Promise.resolve(signal.aborted))).resolves.toBe(
      true,
    );
  });

  it('ends at its deadline, and leaves no timer behind when it was in time', async () => {
    const clock = new FakeClock();
    const tooLate = new Error('too late');
    const late = withDeadline(clock, 100, tooLate, (signal) => orAborted(new Promise<never>(() => undefined), signal));
    clock.advance(100);
    await expect(late).rejects.toBe(tooLate);
    expect(await withDeadline(clock, 100, tooLate, () => Promise.resolve('in time'))).toBe('in time');
    expect(clock.pending).toBe(0);
  });
});
