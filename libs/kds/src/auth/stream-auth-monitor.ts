import { StayReview } from '@causeway/access';
import { errorText, type Clock, type Logger, type Timer } from '@causeway/runtime';
import type { ZoneAuthentication, ZoneAuthenticator, ZoneCaller } from './zone-authenticator';

/** Maximum delay of the timer, ms: system timers are limited to 24 days, and clocks jump. */
const MAX_DELAY = 60_000;

/**
 * Ends accepted streams whose token became invalid: when it expires, and when a change of keys, revocations or
 * exemptions makes it invalid (every such change authenticates all streams again; docs/design.md §5 Zone tokens).
 */
export class StreamAuthMonitor {
  private readonly watched = new Set<StayReview<ZoneAuthentication>>();
  private readonly stopListening: () => void;
  private timer: Timer | undefined;

  constructor(
    private readonly auth: ZoneAuthenticator,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {
    this.stopListening = auth.onChange?.(() => this.watched.forEach((each) => each.review())) ?? (() => undefined);
  }

  /**
   * Calls `end` at most once, when the caller is no longer authenticated, until the returned function is called. The
   * caller is also authenticated immediately, so that a revocation during the start of the stream is not missed.
   */
  watch(caller: ZoneCaller, end: (error: unknown) => void): () => void {
    const review = new StayReview({
      ask: () => this.auth.authenticate(caller),
      clock: this.clock,
      expired: 'the zone token has expired',
      answered: () => this.arm(),
      refused: (error) => {
        this.watched.delete(review);
        this.logger.warn('the streams of a zone end: it is no longer authenticated', {
          zone: caller.zone,
          error: errorText(error),
        });
        end(error);
      },
    });
    this.watched.add(review);
    review.review();
    return () => this.forget(review);
  }

  close(): void {
    this.stopListening();
    this.timer?.cancel();
    for (const review of this.watched) this.forget(review);
  }

  private forget(review: StayReview<ZoneAuthentication>): void {
    review.close();
    this.watched.delete(review);
  }

  private arm(): void {
    this.timer?.cancel();
    const next = Math.min(...[...this.watched].map(({ endsAt }) => endsAt));
    if (next === Infinity) return;
    const wait = Math.min(Math.max(next - this.clock.now(), 0), MAX_DELAY);
    this.timer = this.clock.after(wait, () => this.endExpired());
  }

  private endExpired(): void {
    for (const review of this.watched) review.checkTime();
    this.arm();
  }
}
