import { FakeClock } from '../testing/fake-clock';
import { WakeableSleep } from './wakeable-sleep';

describe('a sleep that others end', () => {
  const clock = new FakeClock();
  const sleep = new WakeableSleep(clock);
  const { signal } = new AbortController();
  const isOver = async (pending: Promise<void>): Promise<boolean> =>
    Promise.race([pending.then(() => true), new Promise<boolean>((resolve) => setImmediate(() => resolve(false)))]);

  it('ends after its time, and leaves no timer', async () => {
    const pending = sleep.sleep(100, signal);
    clock.advance(99);
    expect(await isOver(pending)).toBe(false);
    clock.advance(1);
    expect([await isOver(pending), clock.pending]).toEqual([true, 0]);
  });

  it('ends at a wake, also one that came before it', async () => {
    const pending = sleep.sleep(Infinity, signal);
    expect(await isOver(pending)).toBe(false);
    sleep.wake();
    expect(await isOver(pending)).toBe(true);
    sleep.wake();
    expect(await isOver(sleep.sleep(100, signal))).toBe(true);
    const next = sleep.sleep(100, signal);
    expect([await isOver(next), clock.pending]).toEqual([false, 1]);
    sleep.wake();
    expect([await isOver(next), clock.pending]).toEqual([true, 0]);
  });

  it('ends when its signal aborts', async () => {
    const end = new AbortController();
    const pending = sleep.sleep(100, end.signal);
    end.abort();
    expect(await isOver(pending)).toBe(true);
    expect([await isOver(sleep.sleep(100, end.signal)), clock.pending]).toEqual([true, 0]);
  });
});
