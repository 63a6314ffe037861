import { Mutex } from './mutex';

describe('Mutex', () => {
  it('runs work in the order of the calls, each after the end of the one before', async () => {
    const mutex = new Mutex();
    const seen: string[] = [];
    const work = (name: string, turns: number) => async () => {
      seen.push(`${name} begins`);
      for (let turn = 0; turn < turns; turn++) await Promise.resolve();
      seen.push(`${name} ends`);
      return name;
    };
    expect(await Promise.all([mutex.run(work('a', 5)), mutex.run(work('b', 1))])).toEqual(['a', 'b']);
    expect(seen).toEqual(['a begins', 'a ends', 'b begins', 'b ends']);
  });

  it('goes on after work that failed', async () => {
    const mutex = new Mutex();
    const failed = mutex.run(() => Promise.reject(new Error('broken')));
    const next = mutex.run(() => Promise.resolve('next'));
    await expect(failed).rejects.toThrow('broken');
    expect(await next).toBe('next');
  });
});
