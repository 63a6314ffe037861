/** Runs asynchronous work one after the other, in the order of the calls. */
export class Mutex {
  private last: Promise<unknown> = Promise.resolve();

  /** Runs `work` once all work of earlier calls has ended, and returns its outcome; work that fails does not stop the next. */
  run<T>(work: () => Promise<T>): Promise<T> {
    const running = this.last.then(work);
    this.last = running.catch(() => undefined);
    return running;
  }
}
