import { setImmediate as turn } from 'node:timers/promises';
import { Unavailable } from '@causeway/resources';
import { silentLogger } from '@causeway/runtime';
import { FakeClock } from '@causeway/runtime/testing';
import { ResourceIndex, type MetadataEntry } from '@causeway/store';
import { defaultsReadiness, runPeriodically } from './store-maintenance';

it('is ready although the database was away at the first look, and nothing changes after it', async () => {
  let away = true;
  const entries = async (area: string): Promise<readonly MetadataEntry[]> => {
    if (away) throw new Unavailable('away');
    return [{ area, key: 'made', value: {} }];
  };
  const notReady = defaultsReadiness({
    store: { listMetadata: entries },
    index: new ResourceIndex(),
    shutdown: new AbortController().signal,
  });
  await turn();
  expect(notReady()).toBe('no leader has written the default resources yet');
  away = false;
  expect(notReady()).toBeDefined();
  await turn();
  expect(notReady()).toBeUndefined();
});

describe('chores of a leader', () => {
  const term = (): { readonly over: AbortController; readonly listened: () => number } => {
    const over = new AbortController();
    let listeners = 0;
    const listen = over.signal.addEventListener.bind(over.signal);
    over.signal.addEventListener = (...given: Parameters<typeof listen>) => {
      listeners += 1;
      listen(...given);
    };
    return { over, listened: () => listeners };
  };

  it('are done at once and again some time after their end, by one listener of the term; one that fails or hangs delays no other', async () => {
    const clock = new FakeClock();
    const { over, listened } = term();
    const done: string[] = [];
    let finish = (): void => undefined;
    const chores = [
      { failure: 'often', every: 10, run: async () => void done.push('often') },
      { failure: 'fails', every: 20, run: () => Promise.reject(new Error('away')).finally(() => done.push('fails')) },
      { failure: 'hangs', every: 10, run: () => new Promise<void>((resolve) => (finish = resolve)) },
      ...Array.from({ length: 20 }, () => ({ failure: 'idle', run: () => Promise.resolve() })),
    ];
    let isOver = false;
    const running = runPeriodically({ clock, logger: silentLogger }, over.signal, chores).then(() => (isOver = true));
    for (let n = 0; n < 4; n++) {
      await turn();
      clock.advance(10);
    }
    await turn();
    expect(done.filter((name) => name === 'often')).toHaveLength(5);
    expect(done.filter((name) => name === 'fails')).toHaveLength(3);
    expect(listened()).toBe(1);
    over.abort();
    await turn();
    expect([isOver, clock.pending]).toEqual([false, 0]);
    finish();
    await running;
    clock.advance(100);
    expect([done.length, clock.pending]).toEqual([8, 0]);
  });

  it('are not begun after the term', async () => {
    const run = jest.fn(() => Promise.resolve());
    await runPeriodically({ clock: new FakeClock(), logger: silentLogger }, AbortSignal.abort(), [
      { failure: '', run },
    ]);
    expect(run).not.toHaveBeenCalled();
  });
});
