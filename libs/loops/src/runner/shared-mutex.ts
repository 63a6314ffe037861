/**
 * Runs asynchronous work in the order of the calls: exclusive work alone, shared work beside other shared work. Shared work that is asked for after
 * exclusive work waits for it, so that neither kind is kept out. Work that fails does not stop the next.
 */
export class SharedMutex {
  /** Ends with the last exclusive work that was asked for. */
  private exclusive: Promise<void> = Promise.resolve();
  /** Ends with all shared work that was asked for after it. */
  private shared: Promise<void> = Promise.resolve();

  /** Runs `work` once all exclusive work of earlier calls has ended, and returns its outcome. */
  runShared<T>(work: () => Promise<T>): Promise<T> {
    const running = this.exclusive.then(work);
    const { shared } = this;
    this.shared = ended(running).then(() => shared);
    return running;
  }

  /** Runs `work` once all work of earlier calls has ended, and returns its outcome. */
  runExclusive<T>(work: () => Promise<T>): Promise<T> {
    const { exclusive, shared } = this;
    const running = exclusive.then(() => shared).then(work);
    this.exclusive = ended(running);
    this.shared = Promise.resolve();
    return running;
  }
}

function ended(work: Promise<unknown>): Promise<void> {
  return work.then(
    () => undefined,
    () => undefined,
  );
}
