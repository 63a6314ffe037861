import { orAborted } from './abort';

/** One doing of the work, and how many wait for it. */
interface Flight<T> {
  readonly result: Promise<T>;
  readonly life: AbortController;
  waiting: number;
}

/**
 * Work that several ask for and that is done once for all who wait at the same time. Who is gone waits no more, and when
 * the last is gone the signal that the work was given aborts. Nothing is kept: who asks after its end begins it anew.
 */
export class SingleFlight<T> {
  private current: Flight<T> | undefined;

  constructor(private readonly work: (signal: AbortSignal) => Promise<T>) {}

  /** What the work comes to; rejects as the work does, or with the signal's reason when that aborts before. */
  async result(signal: AbortSignal): Promise<T> {
    signal.throwIfAborted();
    const run = this.current ?? this.begin();
    run.waiting++;
    try {
      return await orAborted(run.result, signal);
    } finally {
      if (--run.waiting === 0) this.giveUp(run);
    }
  }

  private begin(): Flight<T> {
    const life = new AbortController();
    const run = { result: this.work(life.signal), life, waiting: 0 };
    this.current = run;
    const forget = (): void => this.forget(run);
    run.result.then(forget, forget);
    return run;
  }

  /** Who asks from now on gets no part of what was given up. */
  private giveUp(run: Flight<T>): void {
    this.forget(run);
    run.life.abort(new Error('nobody waits for this any more'));
  }

  private forget(run: Flight<T>): void {
    if (this.current === run) this.current = undefined;
  }
}
