import type { Clock } from './clock';

/** Settles as `work` does, or rejects after `ms`; the work goes on unheard. */
export function within<T>(clock: Clock, ms: number, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = clock.after(ms, () => reject(new Error(`no answer within ${ms} ms`)));
    work.then(resolve, reject).finally(() => timer.cancel());
  });
}
