import { setImmediate as turn } from 'node:timers/promises';
import { Forbidden, Unavailable } from '@causeway/resources';
import { silentLogger } from '@causeway/runtime';
import { FakeClock } from '@causeway/runtime/testing';
import { retryWhileUnavailable } from './retry-while-unavailable';

describe('a step of a start that needs the database', () => {
  it('is tried again while that is away, and no longer than a minute', async () => {
    const clock = new FakeClock();
    const options = { clock, logger: silentLogger, signal: new AbortController().signal };
    const away = new Unavailable('away');
    const answer = retryWhileUnavailable(async () => {
      if (clock.now() < 30_000) throw away;
      return 'done';
    }, options);
    const given = retryWhileUnavailable(() => Promise.reject(away), options).catch((error: unknown) => error);
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
    const shutdown = new AbortController();
    const options = { clock: new FakeClock(), logger: silentLogger, signal: shutdown.signal };
    await expect(retryWhileUnavailable(failing(new Forbidden('another zone')), options)).rejects.toThrow(
      'another zone',
    );
    shutdown.abort();
    await expect(retryWhileUnavailable(failing(new Unavailable('away')), options)).rejects.toThrow('away');
    expect(tries).toBe(2);
  });
});
