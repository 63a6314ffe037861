import { SharedMutex } from './shared-mutex';

/** Work that ends when the test ends it. */
class PausedWork {
  readonly seen: string[] = [];
  private readonly ends = new Map<string, () => void>();

  named(name: string): () => Promise<string> {
    return () => {
      this.seen.push(name);
      return new Promise((resolve) => this.ends.set(name, () => resolve(name)));
    };
  }

  async end(name: string): Promise<void> {
    this.ends.get(name)?.();
    await this.turn();
  }

  /** Lets work begin that may. */
  turn(): Promise<void> {
    return new Promise((resolve) => setImmediate(resolve));
  }
}

describe('SharedMutex', () => {
  let mutex: SharedMutex;
  let work: PausedWork;
  beforeEach(() => {
    mutex = new SharedMutex();
    work = new PausedWork();
  });

  it('runs exclusive work one after the other, in the order of the calls', async () => {
    const all = Promise.all(['a', 'b'].map((name) => mutex.runExclusive(work.named(name))));
    await work.turn();
    expect(work.seen).toEqual(['a']);
    await work.end('a');
    expect(work.seen).toEqual(['a', 'b']);
    await work.end('b');
    expect(await all).toEqual(['a', 'b']);
  });

  it('runs shared work side by side, and exclusive work when all of it has ended', async () => {
    const all = Promise.all(['a', 'b'].map((name) => mutex.runShared(work.named(name))));
    const alone = mutex.runExclusive(work.named('alone'));
    await work.turn();
    expect(work.seen).toEqual(['a', 'b']);
    await work.end('b');
    expect(work.seen).toEqual(['a', 'b']);
    await work.end('a');
    expect(work.seen).toEqual(['a', 'b', 'alone']);
    await work.end('alone');
    expect([await all, await alone]).toEqual([['a', 'b'], 'alone']);
  });

  it('lets shared work wait for exclusive work that was asked for before it', async () => {
    const all = Promise.all([
      mutex.runShared(work.named('before')),
      mutex.runExclusive(work.named('alone')),
      mutex.runShared(work.named('after')),
    ]);
    await work.turn();
    expect(work.seen).toEqual(['before']);
    await work.end('before');
    expect(work.seen).toEqual(['before', 'alone']);
    await work.end('alone');
    expect(work.seen).toEqual(['before', 'alone', 'after']);
    await work.end('after');
    await all;
  });

  it('goes on after work that failed', async () => {
    const broken = (): Promise<never> => Promise.reject(new Error('broken'));
    const failed = [mutex.runExclusive(broken), mutex.runShared(broken)].map((each) =>
      expect(each).rejects.toThrow('broken'),
    );
    expect(await mutex.runExclusive(() => Promise.resolve('next'))).toBe('next');
    await Promise.all(failed);
  });
});
