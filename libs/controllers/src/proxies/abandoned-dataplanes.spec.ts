import { silentLogger } from '@causeway/runtime';
import { FakeClock } from '@causeway/runtime/testing';
import type { ProxySession } from '@causeway/store';
import { MemoryDisk, MemoryProxySessions } from '@causeway/store/testing';
import { dataplane, idOf, LoopHarness, type Replica } from '../../../../test/support/loop-harness';
import { KeyedLoop } from '@causeway/loops';
import { AbandonedDataplanesReconciler, REGISTERED_BY } from './abandoned-dataplanes';
import { ProxyDirectory } from './proxy-directory';

const AFTER = 15 * 60_000;

describe('Dataplanes that their proxies registered', () => {
  const clock = new FakeClock(1_760_000_000_000);
  const held: string[] = [];
  let harness: LoopHarness;
  let replica: Replica;
  let sessions: MemoryProxySessions;
  let directory: ProxyDirectory;
  let version = 0;

  const lead = async (): Promise<void> => {
    directory = new ProxyDirectory({ store: sessions, clock, logger: silentLogger });
    replica = harness.replica();
    const onHeld = (abandoned: number, registered: number): void => void held.push(`${abandoned}/${registered}`);
    await replica.lead([
      new KeyedLoop(new AbandonedDataplanesReconciler({ zone: 'east', proxies: directory, after: AFTER, onHeld })),
    ]);
    await pass(0);
  };
  /** Time goes by, while replica `a` reports. */
  const pass = async (ms: number, ...reported: readonly ProxySession[]): Promise<void> => {
    clock.advance(ms);
    harness.clock.advance(ms + 1_000);
    const point = { incarnation: 'i', revision: 5 };
    await sessions.report({ instance: 'a', version: ++version, ...point, isEnd: false, sessions: reported });
    await directory.refresh();
    await replica.settle();
  };
  const session = (name: string, connected: boolean): ProxySession => ({
    proxy: `default/${name}`,
    connected,
    facts: {
      kind: 'dataplane',
      owner: idOf('Dataplane', name),
      node: `default.${name}`,
      address: '10.0.0.1',
      userAgent: 'envoy 1.40.0',
      form: 'delta',
      since: 1,
      streams: 1,
      types: [],
      isSettled: true,
      rejected: [],
      refused: [],
    },
  });
  const register = (by: string | undefined, ...names: readonly string[]): Promise<unknown> =>
    harness.write(
      ...names.map((name) =>
        dataplane(name, [{ port: 80, tags: { app: 'web' } }], by === undefined ? {} : { [REGISTERED_BY]: by }),
      ),
    );
  const left = async (...names: readonly string[]): Promise<readonly string[]> => {
    const found = await Promise.all(
      names.map(async (name) => ((await harness.get(idOf('Dataplane', name))) ? [name] : [])),
    );
    return found.flat();
  };

  beforeEach(async () => {
    held.length = 0;
    harness = new LoopHarness();
    sessions = new MemoryProxySessions(new MemoryDisk({ clock }));
    await register('one', 'gone', 'there');
    await register(undefined, 'by-hand');
    await lead();
  });
  afterEach(() => harness.stop());

  it('go when no replica had a stream of their proxy for so long; others stay', async () => {
    await pass(0, session('there', true), session('gone', true));
    await pass(AFTER, session('gone', false));
    expect(await left('gone', 'there', 'by-hand')).toEqual(['gone', 'there', 'by-hand']);
    await pass(AFTER - 2_000);
    expect(await left('gone')).toEqual(['gone']);
    await pass(2_000);
    expect(await left('gone', 'there', 'by-hand')).toEqual(['there', 'by-hand']);
  });

  it('of a replica that is gone without a word likewise', async () => {
    const point = { incarnation: 'i', revision: 5 };
    await sessions.report({ instance: 'b', version: 1, ...point, isEnd: false, sessions: [session('gone', true)] });
    await pass(1_000, session('there', true));
    await pass(AFTER);
    expect(await left('gone', 'there')).toEqual(['gone', 'there']);
    await pass(AFTER);
    expect(await left('gone', 'there')).toEqual(['there']);
  });

  it('stay where their proxy comes back, or has written them anew', async () => {
    await pass(AFTER - 5_000, session('there', true));
    await register('two', 'gone');
    await pass(AFTER - 5_000);
    expect(await left('gone')).toEqual(['gone']);
    await pass(1_000, session('gone', true));
    await pass(3 * AFTER);
    expect(await left('gone')).toEqual(['gone']);
  });

  it('stay as long again where another leader takes over', async () => {
    await pass(AFTER - 5_000);
    await replica.stop();
    await lead();
    await pass(AFTER - 5_000);
    expect(await left('gone', 'there')).toEqual(['gone', 'there']);
    await pass(10_000);
    expect(await left('gone', 'there', 'by-hand')).toEqual(['by-hand']);
  });

  it('are held where many are without a proxy, said once, for 72 h at most', async () => {
    const many = Array.from({ length: 20 }, (_, i) => `many-${i}`);
    await register('one', ...many);
    await pass(1_000, session('there', true), ...many.slice(0, 10).map((name) => session(name, true)));
    await pass(2 * AFTER);
    await pass(60_000);
    expect(await left(...many)).toEqual(many);
    expect(held).toEqual(['11/22']);
    // Some come back: the others are few.
    await pass(60_000, ...many.slice(10, 14).map((name) => session(name, true)));
    await pass(60_000);
    expect(await left('gone', ...many)).toEqual(many.slice(0, 14));
    await pass(0, ...many.map((name) => session(name, false)));
    await pass(71 * 3_600_000);
    expect((await left(...many)).length).toBe(14);
    await pass(3_600_000);
    expect(await left('there', ...many)).toEqual(['there']);
  });
});
