import { identityKey } from '@causeway/resources';
import { TokenBucket, type Clock, type Rate } from '@causeway/runtime';
import type { Change, IndexReader, WriteResult } from '@causeway/store';
import type { ListenedStream } from '../peer-stream';
import { InboundBudget, InboundQueue, type InboundBounds } from './inbound-queue';
import { InboundScheduler } from './inbound-scheduler';

/** Rate limits for reading one stream of a peer. */
export interface PeerRates {
  readonly messages: Rate;
  readonly bytes: Rate;
  /** Written resources. */
  readonly changes: Rate;
}

const MIB = 1024 * 1024;

/** Higher than a zone needs; the bursts admit full first states. */
export const DEFAULT_RATES: PeerRates = {
  messages: { perSecond: 2_000, burst: 10_000 },
  bytes: { perSecond: 20 * MIB, burst: 100 * MIB },
  changes: { perSecond: 5_000, burst: 50_000 },
};

/** Limits one stream of a peer to its rates: messages and writes above them are delayed, none is refused. */
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

  /** Whether the peer is being delayed by its rates. */
  get isThrottled(): boolean {
    return this.held > 0;
  }

  /** Returns undefined if a message of this size is within the rate; else a promise that resolves when it is, or when the signal aborts. */
  message(bytes: number): Promise<void> | undefined {
    return this.wait(Math.max(this.messages.charge(1), this.bytes.charge(bytes)));
  }

  /** As `message`, for a write of this many resources. */
  write(changes: number): Promise<void> | undefined {
    return this.wait(this.changes.charge(changes));
  }

  private wait(ms: number): Promise<void> | undefined {
    if (ms <= 0 || this.signal.aborted) return undefined;
    this.held++;
    return this.clock.sleep(Math.ceil(ms), this.signal).finally(() => this.held--);
  }
}

/** Limits on the resources that zones use on a replica of the global; absent fields have defaults. */
export interface InboundSettings {
  /** Maximum bytes of messages that wait undecoded. */
  readonly bounds?: InboundBounds;
  /** Rate limits for reading one stream of a zone. */
  readonly rates?: Partial<PeerRates>;
}

/** Current resource use of peers in this process. */
export interface InboundMetrics {
  /** Bytes of messages that wait to be applied. */
  readonly queuedBytes: number;
  /** Peers that are delayed by flow control or by their rates. */
  readonly heldBack: number;
  /** Streams that were ended because the peer exceeded a bound, since the start of the process. */
  readonly ended: number;
}

/** Inbound channel of one stream: its queue, its rate limiter, and its share of the capacity. */
export interface InboundChannel {
  readonly queue: InboundQueue;
  /** Absent if the peer's rates are not limited. */
  readonly limiter?: PeerRateLimiter;
  readonly scheduler: InboundScheduler;
  /** Aborts when the stream has ended. */
  readonly lifetime: AbortController;
}

/** Capacity that all peers of a process share for inbound data: memory for queued messages, and scheduled turns. */
export class InboundCapacity {
  private readonly scheduler: InboundScheduler;
  private readonly budget: InboundBudget;
  private readonly channels = new Map<InboundChannel, string>();
  private endedStreams = 0;

  /** If `rates` is absent, streams have no rate limit. */
  constructor(
    private readonly clock: Clock,
    bounds?: InboundBounds,
    private readonly rates?: PeerRates,
  ) {
    this.budget = new InboundBudget(bounds);
    this.scheduler = new InboundScheduler({ clock });
  }

  /** Listens to a stream; its messages wait, under the bounds, until the queue has a consumer. */
  open(peer: string, stream: ListenedStream): InboundChannel {
    const { scheduler, rates, clock } = this;
    const lifetime = new AbortController();
    const limiter = rates && new PeerRateLimiter(rates, clock, lifetime.signal);
    const queue = new InboundQueue(stream, this.budget, {
      message: (bytes) => limiter?.message(bytes),
      yieldTurn: scheduler.yieldTurn,
    });
    const channel = { queue, scheduler, lifetime, ...(limiter ? { limiter } : {}) };
    this.channels.set(channel, peer);
    lifetime.signal.addEventListener('abort', () => void this.channels.delete(channel), { once: true });
    return channel;
  }

  /** Counts a stream that was ended because its peer exceeded a bound. */
  countEnd(): void {
    this.endedStreams++;
  }

  metrics(): InboundMetrics {
    const held = [...this.channels]
      .filter(([{ queue, limiter }]) => queue.isFull || limiter?.isThrottled === true)
      .map(([, peer]) => peer);
    return { queuedBytes: this.budget.bytes, heldBack: new Set(held).size, ended: this.endedStreams };
  }
}

/** Maximum number of a peer's written changes that the index does not contain yet. */
const MAX_UNSEEN_CHANGES = 500;

/** Dependencies of a share. */
export interface InboundShareOptions {
  /** The peer that has the share. */
  readonly peer: string;
  readonly index: Pick<IndexReader, 'reached' | 'point'>;
  readonly channel: InboundChannel;
}

/** One peer's turns at the event loop and at the store, which all peers share. */
export class InboundShare {
  private revision = 0;
  /** Changes written since the last wait for the index. */
  private unseen = 0;
  /** Identity keys of the resources that these changes wrote. */
  private readonly unseenKeys = new Set<string>();

  constructor(private readonly options: InboundShareOptions) {}

  /** The newest store revision that a write of the peer has reached. */
  get reached(): number {
    return this.revision;
  }

  /** See InboundScheduler. */
  compute<T>(steps: Iterator<unknown, T>): Promise<T> {
    return this.options.channel.scheduler.compute(this.options.peer, steps);
  }

  /** Whether other peers are writing now. */
  get isShared(): boolean {
    return this.options.channel.scheduler.isShared(this.options.peer);
  }

  /**
   * Writes when it is the peer's turn and its rate allows it. A peer with many writes waits until the index contains
   * its earlier ones: the consequences of a write, such as sending it to other zones, come before the next write.
   * Rejects when the stream ends first.
   */
  async write(changes: readonly Change[], work: () => Promise<WriteResult>): Promise<WriteResult> {
    const { index, peer, channel } = this.options;
    const { limiter, scheduler, lifetime } = channel;
    const due = limiter?.write(changes.length);
    if (due) await due;
    if (this.unseen > 0 && this.unseen + changes.length > MAX_UNSEEN_CHANGES) {
      await index.reached(this.revision, lifetime.signal);
      this.seeAll();
    }
    const result = await scheduler.write(peer, changes.length, work);
    this.revision = Math.max(this.revision, result.revision);
    this.unseen += changes.length;
    for (const { id } of changes) this.unseenKeys.add(identityKey(id));
    return result;
  }

  /** Returns whether the index contains the peer's last write of the resource with this identity key. */
  hasSeen(key: string): boolean {
    const { point } = this.options.index;
    if (this.unseen > 0 && point && point.revision >= this.revision) this.seeAll();
    return !this.unseenKeys.has(key);
  }

  private seeAll(): void {
    this.unseen = 0;
    this.unseenKeys.clear();
  }
}
