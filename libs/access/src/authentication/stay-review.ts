import type { Clock } from '@causeway/runtime';
import { Unauthenticated } from '../unauthenticated';

/** Who is asked whether somebody may stay, and who is told. */
export interface StayReviewOptions<A extends { readonly until?: number }> {
  /** Rejects where the caller may not stay; `until`: how long the answer holds, ms since 1970, for ever where absent. */
  readonly ask: () => Promise<A>;
  readonly clock: Pick<Clock, 'now'>;
  /** What is said of an answer that holds no longer. */
  readonly expired: string;
  readonly answered: (answer: A) => void;
  /** Is called at most once, and nothing after it. */
  readonly refused: (error: unknown) => void;
  /** An answer that came too late: what it holds is to be released. */
  readonly dropped?: (answer: A) => void;
}

/**
 * Whether somebody who is let in may stay: asked by `review`, at the beginning and after each change, and by `checkTime` once the
 * time of the answer is over. One question at a time: what changes while it is asked is asked about again, so no older answer
 * stands over a newer one.
 */
export class StayReview<A extends { readonly until?: number }> {
  private until = Infinity;
  private isAsking = false;
  private mustAskAgain = false;
  private isOver = false;

  constructor(private readonly options: StayReviewOptions<A>) {}

  /** When the latest answer ends, ms since 1970; Infinity while it is asked and where it holds for ever. */
  get endsAt(): number {
    return this.until;
  }

  /** Asks again. */
  review(): void {
    if (this.isOver) return;
    if (this.isAsking) this.mustAskAgain = true;
    else void this.ask();
  }

  /** Asks again where the time of the answer is over. */
  checkTime(): void {
    if (this.until <= this.options.clock.now()) this.review();
  }

  /** Nobody is told anything any more. */
  close(): void {
    this.isOver = true;
  }

  private async ask(): Promise<void> {
    this.isAsking = true;
    this.mustAskAgain = false;
    this.until = Infinity;
    const outcome = await this.options.ask().then(
      (answer) => ({ ok: true, answer }) as const,
      (error: unknown) => ({ ok: false, error }) as const,
    );
    this.isAsking = false;
    if (!outcome.ok) return this.mustAskAgain ? this.review() : this.refuse(outcome.error);
    const { answer } = outcome;
    const { until = Infinity } = answer;
    const isExpired = until <= this.options.clock.now();
    if (this.isOver || isExpired) this.options.dropped?.(answer);
    if (isExpired) return this.refuse(new Unauthenticated(this.options.expired));
    if (this.isOver) return;
    this.until = until;
    this.options.answered(answer);
    if (this.mustAskAgain) this.review();
  }

  private refuse(error: unknown): void {
    if (this.isOver) return;
    this.isOver = true;
    this.options.refused(error);
  }
}
