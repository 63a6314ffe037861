import { Registry } from '@causeway/resources';
import { RateLimitedLogger, type LogFields, type Logger } from '@causeway/runtime';
import { FakeClock } from '@causeway/runtime/testing';
import type { Change, MetadataEntry, WriteResult } from '@causeway/store';
import { BatchWriter, type SizedChange } from './batch-writer';
import { InboundScheduler } from './inbound-scheduler';
import { SubscribedKinds, MAX_UNKNOWN_KINDS, limitResults, sanitizePeerText, formatRejections } from '../peer-limits';
import { PeerRateLimiter } from './inbound-capacity';

const id = { kind: 'MeshService', mesh: 'm', zone: 'z', namespace: 'n', name: 's' };
const sized = (bytes: number): SizedChange => ({ change: { type: 'delete', id, expect: 'any' }, bytes });

describe('writes', () => {
  const batches = async (changes: readonly SizedChange[], isShared = false): Promise<readonly number[]> => {
    const sizes: number[] = [];
    const entries: (readonly MetadataEntry[])[] = [];
    const once = (batch: readonly Change[], recorded: readonly MetadataEntry[]): Promise<WriteResult> => {
      sizes.push(batch.length);
      entries.push(recorded);
      return Promise.resolve({ revision: sizes.length, incarnation: '', results: [] });
    };
    const entry: MetadataEntry = { area: 'a', key: 'k', value: null };
    await new BatchWriter(once, () => isShared).write(changes, [entry]);
    expect(entries.map(({ length }) => length)).toEqual([...sizes.slice(1).map(() => 0), 1]);
    return sizes;
  };

  it('are cut by number, smaller ones while others write', async () => {
    const many = Array.from({ length: 1_100 }, () => sized(10));
    expect(await batches(many)).toEqual([500, 500, 100]);
    expect(await batches(many.slice(0, 250), true)).toEqual([100, 100, 50]);
    expect(await batches([])).toEqual([0]);
  });

  it('are cut by bytes, one large resource alone', async () => {
    const [large, small] = [sized(700_000), sized(1_000)];
    expect(await batches([large, small, large, small, sized(5_000_000), small])).toEqual([2, 2, 1, 1]);
  });
});

describe('a peer’s rates', () => {
  const rate = { perSecond: 10, burst: 20 };
  const rates = { messages: rate, bytes: { perSecond: 1_000, burst: 2_000 }, changes: rate };

  it('lets a burst through and then holds the peer to its rate', async () => {
    const clock = new FakeClock();
    const pace = new PeerRateLimiter(rates, clock, new AbortController().signal);
    for (let i = 0; i < 20; i++) expect(pace.message(1)).toBeUndefined();
    const held = pace.message(1);
    expect(pace.isThrottled).toBe(true);
    clock.advance(100);
    await held;
    expect(pace.isThrottled).toBe(false);
    expect(pace.write(20)).toBeUndefined();
    expect(pace.write(10)).toBeDefined();
  });

  it('counts bytes, and lets go when the stream ends', async () => {
    const [clock, life] = [new FakeClock(), new AbortController()];
    const pace = new PeerRateLimiter(rates, clock, life.signal);
    const held = pace.message(5_000);
    life.abort();
    await held;
    expect(pace.isThrottled).toBe(false);
  });
});

describe('the scheduler', () => {
  it('does long work in slices, one a turn, and others’ work in between', async () => {
    const clock = new FakeClock();
    const turns: (() => void)[] = [];
    const rest = (): Promise<void> => new Promise((resolve) => turns.push(resolve));
    const scheduler = new InboundScheduler({ clock, yieldTurn: rest });
    const said: string[] = [];
    function* steps(name: string, count: number): Generator<void, string> {
      for (let i = 0; i < count; i++) {
        said.push(name);
        clock.advance(3);
        yield;
      }
      return name;
    }
    const flood = scheduler.compute('flood', steps('flood', 6));
    const east = scheduler.compute('east', steps('east', 1));
    expect(said).toEqual(['flood', 'flood']);
    while (said.length < 7) {
      turns.shift()?.();
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(said.slice(0, 5)).toEqual(['flood', 'flood', 'east', 'flood', 'flood']);
    turns.shift()?.();
    expect(await Promise.all([flood, east])).toEqual(['flood', 'east']);
  });

  it('tells whether others write', async () => {
    const clock = new FakeClock();
    const scheduler = new InboundScheduler({ clock });
    await scheduler.write('a', 1, () => Promise.resolve());
    await scheduler.write('a', 1, () => Promise.resolve());
    expect([scheduler.isShared('a'), scheduler.isShared('b')]).toEqual([false, true]);
    await scheduler.write('b', 1, () => Promise.resolve());
    expect([scheduler.isShared('a'), scheduler.isShared('b')]).toEqual([true, true]);
    clock.advance(1_001);
    expect([scheduler.isShared('a'), scheduler.isShared('b')]).toEqual([false, false]);
  });
});

it('kinds that are not known here are counted, and only so many remembered', () => {
  const kinds = new SubscribedKinds(new Registry([]));
  for (let i = 0; i < MAX_UNKNOWN_KINDS; i++) expect(kinds.classify(`K${i}`)).toBe('first');
  expect([kinds.classify('K0'), kinds.classify('more')]).toEqual(['again', 'too-many']);
});

it('a peer’s log lines are bounded, and what was left out is counted', () => {
  const [clock, lines] = [new FakeClock(), new Array<string>()];
  const say = (message: string, fields?: LogFields): void =>
    void lines.push(`${message}${JSON.stringify(fields ?? {})}`);
  const inner: Logger = { debug: say, info: say, warn: say, error: say, child: () => inner };
  const limited = RateLimitedLogger.of(inner, clock);
  for (let i = 0; i < 100; i++) limited.child({ i }).warn('bad');
  expect(lines).toHaveLength(20);
  clock.advance(10_000);
  expect(lines.slice(20)).toEqual(['further lines about this peer were not logged{"lines":80,"seconds":10}']);
  limited.warn('again');
  expect(lines).toHaveLength(22);
});

describe('refusals', () => {
  const refused = Array.from({ length: 5_000 }, (_, i) => ({ wireKey: `s${i}.m`, reason: 'r'.repeat(10_000) }));

  it('are reported as a bounded text with the total', () => {
    const text = formatRejections(refused, (wireKey) => wireKey);
    expect(Buffer.byteLength(text)).toBeLessThan(17 * 1024);
    expect(text).toMatch(/^user error\ns0\.m: r{511}…\n/);
    expect(text).toMatch(/and \d+ more; 5000 in all$/);
    expect(formatRejections([{ wireKey: 'a.m', reason: 'bad' }], (key) => key)).toBe('user error\na.m: bad');
  });

  it('are reported one by one as far as an answer holds', () => {
    const results = refused.map(({ reason }, i) => {
      const outcome = 'rejected' as const;
      return { kind: 'MeshService', name: `s${i}`, mesh: 'm', version: '', outcome, reason };
    });
    const bounded = limitResults(results);
    expect(bounded.length).toBeGreaterThan(500);
    expect(bounded.reduce((sum, { reason }) => sum + Buffer.byteLength(reason), 0)).toBeLessThan(512 * 1024);
  });

  it('hold only what a store and a header can', () => {
    expect(sanitizePeerText('a\0b')).toBe('a\ufffdb');
    expect(() => encodeURI(sanitizePeerText('😀'.repeat(400)))).not.toThrow();
  });
});
