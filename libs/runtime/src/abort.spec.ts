import { orAborted } from './abort';

describe('work that may be aborted', () => {
  it('leaves no rejection behind that nobody catches, whenever it fails', async () => {
    const unheard: unknown[] = [];
    const hear = (error: unknown): void => void unheard.push(error);
    process.on('unhandledRejection', hear);
    let fail = (_: Error): void => undefined;
    const later = new Promise<never>((_, reject) => (fail = reject));
    const over = new AbortController();
    const waiting = orAborted(later, over.signal);
    over.abort(new Error('over'));
    await expect(waiting).rejects.toThrow('over');
    await expect(orAborted(Promise.reject(new Error('fenced')), over.signal)).rejects.toThrow('over');
    fail(new Error('fenced later'));
    await new Promise((resolve) => setImmediate(resolve));
    process.off('unhandledRejection', hear);
    expect(unheard).toEqual([]);
  });
});
