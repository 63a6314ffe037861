import { setImmediate as turn } from 'node:timers/promises';
import { Forbidden, Unavailable } from '@causeway/resources';
import { FakeClock, silentLogger } from '@causeway/runtime';
import { retryWhileUnavailable } from './retry-while-unavailable';

describe('a step of a start that needs the database', () => {
  it('is tried again while that is away, and no longer than a minute', async () => {
    const clock = new FakeClock();
    const patience = { clock, logger: silentLogger, signal: new AbortController().signal };
    const away = new Unavailable('away');
    const answer = retryWhileUnavailable(async () => {
      if (clock.now() < 30_000) throw away;
      return 'done';
    }, patience);
    const given = retryWhileUnavailable(() => Promise.reject(away), patience).catch((error: unknown) => error);
    for (let second = 0; second < 70; second++) {
      clock.advance(1_000);
      await turn();
    }
    expect(await answer).toBe('done');
    expect(await given).toBe(away);
  });

  it('is not tried again when waiting mends nothing, or the program is to end', async () => {
    let tries = 0;
    const failing = (error: Error) => async (): Promise<void> => {
      tries++;
      throw error;
    };
    const life = new AbortController();
    const patience = { clock: new FakeClock(), logger: silentLogger, signal: life.signal };
    await expect(retryWhileUnavailable(failing(new Forbidden('another zone')), patience)).rejects.toThrow(
      'another zone',
    );
    life.abort();
    await expect(retryWhileUnavailable(failing(new Unavailable('away')), patience)).rejects.toThrow('away');
    expect(tries).toBe(2);
  });
});
