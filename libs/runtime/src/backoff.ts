/** Options of a backoff between attempts. */
export interface BackoffOptions {
  /** First delay, ms. */
  readonly base: number;
  /** Maximum delay, ms. */
  readonly cap: number;
  /** Random number with 0 ≤ x < 1; Math.random unless a test or simulation sets it. */
  readonly random?: () => number;
}

/** Exponential backoff with jitter: each delay is between half and all of the step. `reset` starts over after a success. */
export class Backoff {
  private tries = 0;

  constructor(private readonly options: BackoffOptions) {}

  /** Returns the next delay in ms. */
  next(): number {
    const { base, cap, random = Math.random } = this.options;
    const step = Math.min(cap, base * 2 ** Math.min(this.tries++, 30));
    return step / 2 + (step / 2) * random();
  }

  reset(): void {
    this.tries = 0;
  }
}
