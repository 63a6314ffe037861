import { Unauthenticated } from '@causeway/access';
import { errorText, type Clock, type Logger, type Timer } from '@causeway/runtime';
import type { ZoneAuthenticator, ZoneCaller } from '../global/zone-authenticator';

/** Longest time between two looks at the clock, ms: system timers do not reach further than 24 days, and clocks jump. */
const LONGEST_WAIT = 60_000;

interface MonitoredStream {
  readonly caller: ZoneCaller;
  readonly end: (error: unknown) => void;
  until: number;
}

/**
 * Watches over the streams that were let in: one whose token has expired is ended, and when keys, revocations or rules
 * change each is judged anew (design.md §5 Zone tokens).
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
   * Calls `end` once when the caller may stay no longer; until the returned function is called. The caller is judged at
   * once as well: what was revoked while its stream began is not missed.
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
    const wait = Math.min(Math.max(next - this.clock.now(), 0), LONGEST_WAIT);
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
