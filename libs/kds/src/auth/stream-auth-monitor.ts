import { Unauthenticated } from '@causeway/access';
import { errorText, type Clock, type Logger, type Timer } from '@causeway/runtime';
import type { ZoneAuthenticator, ZoneCaller } from '../global/zone-authenticator';

/** Maximum delay of the timer, ms: system timers are limited to 24 days, and clocks jump. */
const MAX_DELAY = 60_000;

interface MonitoredStream {
  readonly caller: ZoneCaller;
  readonly end: (error: unknown) => void;
  until: number;
}

/**
 * Ends admitted streams whose token is no longer valid: at the end of its validity, and after a change of keys,
 * revocations or exemptions, which has every stream authenticated again (docs/design.md §5 Zone tokens).
 */
export class StreamAuthMonitor {
  private readonly watched = new Set<MonitoredStream>();
  private readonly stopListening: () => void;
  private timer: Timer | undefined;

  constructor(
    private readonly auth: ZoneAuthenticator,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {
    this.stopListening = auth.onChange?.(() => this.reviewAll()) ?? (() => undefined);
  }

  /**
   * Calls `end` at most once, when the caller is no longer authenticated, until the returned function is called. The
   * caller is authenticated at once too, so that a revocation while the stream began is not missed.
   */
  watch(caller: ZoneCaller, end: (error: unknown) => void): () => void {
    const entry: MonitoredStream = { caller, end, until: Infinity };
    this.watched.add(entry);
    void this.review(entry);
    return () => void this.watched.delete(entry);
  }

  close(): void {
    this.stopListening();
    this.timer?.cancel();
    this.watched.clear();
  }

  private reviewAll(): void {
    for (const entry of this.watched) void this.review(entry);
  }

  private async review(entry: MonitoredStream): Promise<void> {
    try {
      const { until = Infinity } = await this.auth.authenticate(entry.caller);
      if (until <= this.clock.now()) throw new Unauthenticated('the zone token has expired');
      entry.until = until;
      this.arm();
    } catch (error) {
      if (!this.watched.delete(entry)) return;
      this.logger.warn('a zone may stay no longer', { zone: entry.caller.zone, error: errorText(error) });
      entry.end(error);
    }
  }

  private arm(): void {
    this.timer?.cancel();
    const next = Math.min(...[...this.watched].map(({ until }) => until));
    if (next === Infinity) return;
    const wait = Math.min(Math.max(next - this.clock.now(), 0), MAX_DELAY);
    this.timer = this.clock.after(wait, () => this.endExpired());
  }

  private endExpired(): void {
    const now = this.clock.now();
    for (const entry of this.watched) {
      if (entry.until > now) continue;
      entry.until = Infinity; // until it is judged
      void this.review(entry);
    }
    this.arm();
  }
}
