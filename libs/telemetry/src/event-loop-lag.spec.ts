import { systemClock } from '@causeway/runtime';
import { until } from '../../../test/support/until';
import { EventLoopLag } from './event-loop-lag';
import { createMetrics } from './metrics';

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** CPU time of the work below, ms: the process of a test has other work as well. */
let used = 0;

/** Holds the event loop. */
function work(ms: number): void {
  for (const end = performance.now() + ms; performance.now() < end;);
  used += ms;
}

describe('the delay of the event loop', () => {
  it('is sampled while the event loop works, and only looked at while it rests', async () => {
    let timers = 0;
    const after: typeof systemClock.after = (ms, action) => {
      timers += 1;
      return systemClock.after(ms, action);
    };
    const lag = new EventLoopLag({ ...systemClock, after }, 500, () => used);
    lag.start();
    lag.start();
    const isResting = (): Promise<unknown> => until('it rests', () => !lag.isSampling);
    await isResting();
    lag.take();
    timers = 0;
    await pause(1_600);
    expect(timers).toBeLessThanOrEqual(4);
    work(250);
    await until('it works', () => lag.isSampling);
    await pause(100);
    work(200);
    await pause(30);
    await isResting();
    // What nobody has read yet is kept.
    const { min, p50, max } = lag.take();
    expect([min >= 0.009, p50 < 0.1, max >= 0.2]).toEqual([true, true, true]);
    expect(lag.take()).toEqual({ min: 0, max: 0, mean: 0, stddev: 0, p50: 0, p90: 0, p99: 0 });
    lag.close();
  });

  it('is sampled when this process uses its CPU', async () => {
    const lag = new EventLoopLag(systemClock, 500);
    lag.start();
    await until('it works', () => {
      work(100);
      return lag.isSampling;
    });
    lag.close();
  });

  it('has the metrics of Node, by their names', async () => {
    const text = await createMetrics([]).metrics();
    for (const part of ['min', 'max', 'mean', 'stddev', 'p50', 'p90', 'p99'])
      expect(text).toMatch(new RegExp(`^nodejs_eventloop_lag_${part}_seconds [\\d.e-]+$`, 'm'));
    expect(text).toMatch(/^nodejs_eventloop_lag_seconds /m);
  });
});
