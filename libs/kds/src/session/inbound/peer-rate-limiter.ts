import { TokenBucket, type Clock, type Rate } from '@causeway/runtime';

/** How fast one stream of a peer is taken in. */
export interface PeerRates {
  readonly messages: Rate;
  readonly bytes: Rate;
  /** Resources written. */
  readonly changes: Rate;
}

const MIB = 1024 * 1024;

/** Above what a zone does in earnest; the bursts let whole first states through. */
export const DEFAULT_RATES: PeerRates = {
  messages: { perSecond: 2_000, burst: 10_000 },
  bytes: { perSecond: 20 * MIB, burst: 100 * MIB },
  changes: { perSecond: 5_000, burst: 50_000 },
};

/** Holds one stream of a peer to its rates: what is above them waits, nothing is refused. */
export class PeerRateLimiter {
  private readonly messages: TokenBucket;
  private readonly bytes: TokenBucket;
  private readonly changes: TokenBucket;
  private held = 0;

  constructor(
    rates: PeerRates,
    private readonly clock: Pick<Clock, 'elapsed' | 'sleep'>,
    private readonly signal: AbortSignal,
  ) {
    this.messages = new TokenBucket(rates.messages, clock);
    this.bytes = new TokenBucket(rates.bytes, clock);
    this.changes = new TokenBucket(rates.changes, clock);
  }

  /** Whether the peer waits because of its rates. */
  get isThrottled(): boolean {
    return this.held > 0;
  }

  /** Undefined: a message of so many bytes may be taken at once; else resolves when it may, or the signal aborts. */
  message(bytes: number): Promise<void> | undefined {
    return this.wait(Math.max(this.messages.charge(1), this.bytes.charge(bytes)));
  }

  /** The same for a write of so many resources. */
  write(changes: number): Promise<void> | undefined {
    return this.wait(this.changes.charge(changes));
  }

  private wait(ms: number): Promise<void> | undefined {
    if (ms <= 0 || this.signal.aborted) return undefined;
    this.held++;
    return this.clock.sleep(Math.ceil(ms), this.signal).finally(() => this.held--);
  }
}
