import { orAborted } from './abort';

/** One run of the work, and the number of callers that wait for it. */
interface Flight<T> {
  readonly result: Promise<T>;
  readonly controller: AbortController;
  waiting: number;
}

/**
 * Runs work once for all callers that wait at the same time. Aborts the work's signal when the last caller has left.
 * Nothing is cached: a call after the end starts the work again.
 */
export class SingleFlight<T> {
  private current: Flight<T> | undefined;

  constructor(private readonly work: (signal: AbortSignal) => Promise<T>) {}

  /** Returns the result of the work; rejects like the work, or with the signal's reason if the signal aborts first. */
  async result(signal: AbortSignal): Promise<T> {
    signal.throwIfAborted();
    const flight = this.current ?? this.begin();
    flight.waiting++;
    try {
      return await orAborted(flight.result, signal);
    } finally {
      if (--flight.waiting === 0) this.abandon(flight);
    }
  }

  private begin(): Flight<T> {
    const controller = new AbortController();
    const flight = { result: this.work(controller.signal), controller, waiting: 0 };
    this.current = flight;
    const forget = (): void => this.forget(flight);
    flight.result.then(forget, forget);
    return flight;
  }

  /** Later callers do not join an abandoned run. */
  private abandon(flight: Flight<T>): void {
    this.forget(flight);
    flight.controller.abort(new Error('nobody waits for this any more'));
  }

  private forget(flight: Flight<T>): void {
    if (this.current === flight) this.current = undefined;
  }
}
