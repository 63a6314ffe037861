import { type Clock, TokenBucket, type Rate } from '@causeway/runtime';
import { InboundQueue, InboundBudget, type InboundBounds } from './inbound-queue';
import { InboundScheduler } from './inbound-scheduler';
import type { ListenedStream } from '../peer-stream';
import type { Change, IndexReader, WriteResult } from '@causeway/store';

/** What zones may cost a replica of the global. */
export interface InboundSettings {
  /** Bytes that wait undecoded. */
  readonly bounds?: InboundBounds;
  /** How fast one stream of a zone is taken in. */
  readonly rates?: Partial<PeerRates>;
}

/** What zones cost this replica now. */
export interface InboundMetrics {
  /** Bytes of their messages that wait to be taken in. */
  readonly queuedBytes: number;
  /** Zones that are held back: by flow control, or by their rates. */
  readonly heldBack: number;
  /** Streams that were ended because the zone went beyond a bound, since the start. */
  readonly ended: number;
}

/** The way in of one stream of a zone. */
export interface InboundChannel {
  readonly queue: InboundQueue;
  readonly limiter: PeerRateLimiter;
  /** Aborts when the stream has ended. */
  readonly lifetime: AbortController;
}

/** What all zones of a replica share as they send: memory for what waits, and turns. */
export class InboundCapacity {
  readonly scheduler: InboundScheduler;
  private readonly budget: InboundBudget;
  private readonly rates: PeerRates;
  private readonly channels = new Map<InboundChannel, string>();
  private endedStreams = 0;

  constructor(
    private readonly clock: Clock,
    { bounds, rates }: InboundSettings = {},
  ) {
    this.budget = new InboundBudget(bounds);
    this.rates = { ...DEFAULT_RATES, ...rates };
    this.scheduler = new InboundScheduler({ clock });
  }

  /** Listens to a stream from now on; what arrives waits under the bounds until there is a consumer. */
  open(zone: string, stream: ListenedStream): InboundChannel {
    const life = new AbortController();
    const pace = new PeerRateLimiter(this.rates, this.clock, life.signal);
    const queue = new InboundQueue(stream, this.budget, {
      message: (bytes) => pace.message(bytes),
      yieldTurn: this.scheduler.yieldTurn,
    });
    const inlet = { queue, limiter: pace, lifetime: life };
    this.channels.set(inlet, zone);
    life.signal.addEventListener('abort', () => void this.channels.delete(inlet), { once: true });
    return inlet;
  }

  /** A stream was ended because its zone went beyond a bound. */
  countEnd(): void {
    this.endedStreams++;
  }

  metrics(): InboundMetrics {
    const held = [...this.channels]
      .filter(([{ queue, limiter: pace }]) => queue.isFull || pace.isThrottled)
      .map(([, zone]) => zone);
    return { queuedBytes: this.budget.bytes, heldBack: new Set(held).size, ended: this.endedStreams };
  }
}

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

/** Changes of a peer that may be written and not yet be in the index. */
const WINDOW = 500;

/** What a share is of. */
export interface InboundShareOptions {
  /** Who it is that has the share. */
  readonly peer: string;
  readonly scheduler: InboundScheduler;
  readonly index: Pick<IndexReader, 'reached'>;
  readonly pace?: PeerRateLimiter;
  readonly signal: AbortSignal;
}

/** The part of one stream's peer in what all peers share. */
export class InboundShare {
  private revision = 0;
  /** Changes written since the index was last waited for. */
  private unseen = 0;

  constructor(private readonly options: InboundShareOptions) {}

  /** See InboundScheduler. */
  compute<T>(steps: Iterator<unknown, T>): Promise<T> {
    return this.options.scheduler.compute(this.options.peer, steps);
  }

  /** Whether others write at this time. */
  get isShared(): boolean {
    return this.options.scheduler.isShared(this.options.peer);
  }

  /**
   * Writes when it is the peer's turn and its rate allows it. Who writes much waits until the index holds what it wrote
   * before: what follows from a write, such as telling other zones, is done before the next one adds to it. Rejects with
   * the signal's reason when that aborts first.
   */
  async write(changes: readonly Change[], work: () => Promise<WriteResult>): Promise<WriteResult> {
    const { scheduler, index, pace, peer, signal } = this.options;
    const due = pace?.write(changes.length);
    if (due) await due;
    if (this.unseen > 0 && this.unseen + changes.length > WINDOW) {
      await index.reached(this.revision, signal);
      this.unseen = 0;
    }
    const result = await scheduler.write(peer, changes.length, work);
    this.revision = Math.max(this.revision, result.revision);
    this.unseen += changes.length;
    return result;
  }
}
