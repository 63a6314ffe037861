import { setImmediate as turn } from 'node:timers/promises';
import { Unavailable } from '@causeway/resources';
import { ResourceIndex, type Note } from '@causeway/store';
import { defaultsReadiness } from './store-maintenance';

it('is ready although the database was away at the first look, and nothing changes after it', async () => {
  let away = true;
  const notes = async (area: string): Promise<readonly Note[]> => {
    if (away) throw new Unavailable('away');
    return [{ area, key: 'made', value: {} }];
  };
  const notReady = defaultsReadiness({
    store: { notes },
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
