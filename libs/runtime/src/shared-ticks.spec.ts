import { FakeClock } from '../testing/fake-clock';
import { afterTick, nextTickAt, sleepUntilTick } from './shared-ticks';

describe('work at shared ticks', () => {
  it('wakes once for all that wait for one moment, whenever each began to wait', () => {
    const clock = new FakeClock();
    const ran: string[] = [];
    clock.advance(100);
    afterTick(clock, 1_000, () => ran.push(`a ${clock.elapsed()}`));
    clock.advance(550);
    afterTick(clock, 1_000, () => ran.push(`b ${clock.elapsed()}`));
    afterTick(clock, 500, () => ran.push(`c ${clock.elapsed()}`));
    expect(clock.pending).toBe(1);
    clock.advance(350);
    expect(ran).toEqual(['a 1000', 'b 1000', 'c 1000']);
  });

  it('runs once an interval where the work of a tick takes a moment, and where a timer fires early', () => {
    const clock = new FakeClock(1);
    const ran: number[] = [];
    const next = (): void => {
      ran.push(clock.elapsed());
      clock.advance(30);
      afterTick(clock, 1_000, next);
    };
    afterTick(clock, 1_000, next);
    clock.advance(999);
    clock.advance(2_000);
    expect(ran).toEqual([1_000, 2_000, 3_000]);
    const early = new FakeClock(1_999);
    let at = 0;
    afterTick(early, 1_000, () => (at = early.elapsed()));
    early.advance(2_000);
    expect(at).toBe(3_000);
  });

  it('gives the time of the tick by the other clock, so that a poll by that clock wakes with those that wait', () => {
    const clock = new FakeClock(1_234);
    const since = 1_700_000_000_123;
    let at = 0;
    afterTick(clock, 1_000, () => (at = clock.elapsed()));
    const given = nextTickAt(clock.elapsed(), since + clock.elapsed(), 1_000);
    clock.advance(5_000);
    expect(given - since).toBe(at);
    expect(nextTickAt(2_000.4, since, 1_000)).toBe(since + 1_000);
    expect(nextTickAt(1_999.6, since, 1_000)).toBe(since + 1_001);
  });

  it('does not run what was cancelled, and ends a sleep by its signal', async () => {
    const clock = new FakeClock();
    let ran = 0;
    afterTick(clock, 1_000, () => (ran += 1)).cancel();
    expect(clock.pending).toBe(0);
    const end = new AbortController();
    const sleep = sleepUntilTick(clock, 1_000, end.signal);
    end.abort();
    await sleep;
    await sleepUntilTick(clock, 1_000, end.signal);
    clock.advance(1_000);
    expect([ran, clock.pending]).toEqual([0, 0]);
  });
});
