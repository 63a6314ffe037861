import { systemClock, yieldToEventLoop } from '@causeway/runtime';
import { until } from '../../../../test/support/until';
import { Subscribers } from './subscribers';

/** Streams that send something whenever they are pumped. */
function stream(at: number[]) {
  return {
    proxyId: 'web-1',
    view: 'default',
    moved: () => undefined,
    pump: (): boolean => at.push(systemClock.elapsed()) > 0,
  };
}

describe('rounds of sending', () => {
  const pause = (ms: number): Promise<void> => systemClock.sleep(ms);

  it('are fewer than the changes that go on, and the last change is sent', async () => {
    const subscribers = new Subscribers<string>(systemClock);
    const pumps: number[] = [];
    const subscriber = stream(pumps);
    const began = systemClock.elapsed();
    let last = began;
    let changes = 0;
    while (systemClock.elapsed() - began < 500) {
      subscribers.schedule(subscriber);
      [last, changes] = [systemClock.elapsed(), changes + 1];
      await pause(1);
    }
    await until('the last round', () => (pumps.at(-1) ?? 0) >= last);
    // Five at once, and then one in 20 ms; a slow machine makes fewer of both.
    expect(pumps.length).toBeLessThanOrEqual(5 + 500 / 20 + 3);
    expect(pumps.length).toBeLessThan(changes);
  });

  it('follow each other at once after a pause', async () => {
    const subscribers = new Subscribers<string>(systemClock);
    const pumps: number[] = [];
    const subscriber = stream(pumps);
    for (let n = 1; n <= 5; n++) {
      subscribers.schedule(subscriber);
      for (let turns = 0; turns < 20 && pumps.length < n; turns++) await yieldToEventLoop();
      expect(pumps).toHaveLength(n);
    }
  });
});
