import { BusyPacer } from './busy-pacer';
import { FakeClock } from '../testing/fake-clock';

describe('BusyPacer', () => {
  it('lets a burst of turns follow each other, and spaces those after it', () => {
    const clock = new FakeClock();
    const pacer = new BusyPacer(clock, { burst: 2, interval: 10 });
    pacer.begin();
    expect(pacer.delay).toBe(0);
    pacer.begin();
    expect(pacer.delay).toBe(10);
    clock.advance(4);
    expect(pacer.delay).toBe(6);
    clock.advance(20);
    expect(pacer.delay).toBe(0);
    pacer.begin();
    expect(pacer.delay).toBe(10);
  });

  it('begins anew after a rest', () => {
    const pacer = new BusyPacer(new FakeClock(), { burst: 1, interval: 10 });
    pacer.begin();
    pacer.rest();
    expect(pacer.delay).toBe(0);
  });
});
