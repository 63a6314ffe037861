import type { LeaderTerm } from '@causeway/runtime';

/**
 * A term whose lease turns out to have ended at check number `lapsesAt`, as after a pause of the process: before that no signal comes, because no
 * timer has run. `end` ends it at any time.
 */
export class LapsingTerm implements LeaderTerm {
  private readonly over = new AbortController();
  /** Number of reads of the signal. */
  looks = 0;

  constructor(
    readonly epoch: number,
    readonly holder: string,
    private readonly lapsesAt: number,
  ) {}

  get signal(): AbortSignal {
    this.looks += 1;
    if (this.looks === this.lapsesAt) this.end();
    return this.over.signal;
  }

  end(): void {
    this.over.abort(new Error('the lease could not be renewed'));
  }
}
