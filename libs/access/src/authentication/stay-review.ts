import type { Clock } from '@causeway/runtime';
import { Unauthenticated } from '../unauthenticated';

/** Callbacks of a StayReview: the question whether somebody may stay, and the refusal. */
export interface StayReviewOptions<A extends { readonly until?: number }> {
  /** Rejects if the caller may not stay; `until`: how long the answer is valid, ms since 1970, for ever if absent. */
  readonly ask: () => Promise<A>;
  readonly clock: Pick<Clock, 'now'>;
  /** Message for an answer that is no longer valid. */
  readonly expired: string;
  readonly answered: (answer: A) => void;
  /** Called at most once, and last. */
  readonly refused: (error: unknown) => void;
  /** An answer that arrived too late: the callback releases its resources. */
  readonly dropped?: (answer: A) => void;
}

/**
 * Reviews whether an admitted client may stay: by `review` at the beginning and after each change, and by `checkTime`
 * once the answer has expired. One question at a time: a change during a question causes another one, so an older
 * answer never replaces a newer one.
 */
export class StayReview<A extends { readonly until?: number }> {
  private until = Infinity;
  private isAsking = false;
  private mustAskAgain = false;
  private isOver = false;

  constructor(private readonly options: StayReviewOptions<A>) {}

  /** Expiry of the latest answer, ms since 1970; Infinity while a question is open and if the answer never expires. */
  get endsAt(): number {
    return this.until;
  }

  /** Authenticates the caller again. */
  review(): void {
    if (this.isOver) return;
    if (this.isAsking) this.mustAskAgain = true;
    else void this.ask();
  }

  /** Authenticates the caller again if the result has expired. */
  checkTime(): void {
    if (this.until <= this.options.clock.now()) this.review();
  }

  /** Stops calling the callbacks. */
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
