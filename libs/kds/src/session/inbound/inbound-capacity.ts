import { identityKey } from '@causeway/resources';
import { TokenBucket, type Clock, type Rate } from '@causeway/runtime';
import type { Change, IndexReader, WriteResult } from '@causeway/store';
import type { ListenedStream } from '../peer-stream';
import { InboundBudget, InboundQueue, type InboundBounds } from './inbound-queue';
import { InboundScheduler } from './inbound-scheduler';

/** How fast one stream of a peer is read. */
export interface PeerRates {
  readonly messages: Rate;
  readonly bytes: Rate;
  /** Written resources. */
  readonly changes: Rate;
}

const MIB = 1024 * 1024;

/** Above what a zone needs; the bursts let whole first states through. */
export const DEFAULT_RATES: PeerRates = {
  messages: { perSecond: 2_000, burst: 10_000 },
  bytes: { perSecond: 20 * MIB, burst: 100 * MIB },
  changes: { perSecond: 5_000, burst: 50_000 },
};

/** Limits one stream of a peer to its rates: messages and writes above them wait, none is refused. */
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

  /** Undefined: a message of this size may be taken at once. Else resolves when it may, or when the signal aborts. */
  message(bytes: number): Promise<void> | undefined {
    return this.wait(Math.max(this.messages.charge(1), this.bytes.charge(bytes)));
  }

  /** The same for a write of this many resources. */
  write(changes: number): Promise<void> | undefined {
    return this.wait(this.changes.charge(changes));
  }

  private wait(ms: number): Promise<void> | undefined {
    if (ms <= 0 || this.signal.aborted) return undefined;
    this.held++;
    return this.clock.sleep(Math.ceil(ms), this.signal).finally(() => this.held--);
  }
}

/** Bounds of the resources that zones use on a replica of the global; absent fields have their defaults. */
export interface InboundSettings {
  /** Bytes of messages that wait undecoded. */
  readonly bounds?: InboundBounds;
  /** How fast one stream of a zone is read. */
  readonly rates?: Partial<PeerRates>;
}

/** Resources that peers use in this process now. */
export interface InboundMetrics {
  /** Bytes of messages that wait to be applied. */
  readonly queuedBytes: number;
  /** Peers that are held back by flow control or by their rates. */
  readonly heldBack: number;
  /** Streams that were ended because the peer exceeded a bound, since the start of the process. */
  readonly ended: number;
}

/** The way in of one stream: its queue, its rates, and its turns. */
export interface InboundChannel {
  readonly queue: InboundQueue;
  /** Absent where the peer's rates are not limited. */
  readonly limiter?: PeerRateLimiter;
  readonly scheduler: InboundScheduler;
  /** Aborts when the stream has ended. */
  readonly lifetime: AbortController;
}

/** Capacity that all peers of a process share as they send: memory for messages that wait, and turns. */
export class InboundCapacity {
  private readonly scheduler: InboundScheduler;
  private readonly budget: InboundBudget;
  private readonly channels = new Map<InboundChannel, string>();
  private endedStreams = 0;

  /** Without `rates` the streams are not limited to any. */
  constructor(
    private readonly clock: Clock,
    bounds?: InboundBounds,
    private readonly rates?: PeerRates,
  ) {
    this.budget = new InboundBudget(bounds);
    this.scheduler = new InboundScheduler({ clock });
  }

  /** Listens to a stream from now on; messages wait, under the bounds, until the queue has a consumer. */
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

  /** A stream was ended because its peer exceeded a bound. */
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

/** Most written changes of a peer that the index need not contain yet. */
const WINDOW = 500;

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
  /** Changes written since the index was last waited for. */
  private unseen = 0;
  /** Identity keys of what these changes are of. */
  private readonly unseenKeys = new Set<string>();

  constructor(private readonly options: InboundShareOptions) {}

  /** The newest revision of the store that a write of the peer has reached. */
  get reached(): number {
    return this.revision;
  }

  /** See InboundScheduler. */
  compute<T>(steps: Iterator<unknown, T>): Promise<T> {
    return this.options.channel.scheduler.compute(this.options.peer, steps);
  }

  /** Whether other peers write at this time. */
  get isShared(): boolean {
    return this.options.channel.scheduler.isShared(this.options.peer);
  }

  /**
   * Writes when it is the peer's turn and its rate allows it. A peer that writes much waits until the index contains what it
   * wrote before: the consequences of a write, such as sending it to other zones, come before the next write. Rejects
   * when the stream ends first.
   */
  async write(changes: readonly Change[], work: () => Promise<WriteResult>): Promise<WriteResult> {
    const { index, peer, channel } = this.options;
    const { limiter, scheduler, lifetime } = channel;
    const due = limiter?.write(changes.length);
    if (due) await due;
    if (this.unseen > 0 && this.unseen + changes.length > WINDOW) {
      await index.reached(this.revision, lifetime.signal);
      this.seeAll();
    }
    const result = await scheduler.write(peer, changes.length, work);
    this.revision = Math.max(this.revision, result.revision);
    this.unseen += changes.length;
    for (const { id } of changes) this.unseenKeys.add(identityKey(id));
    return result;
  }

  /** Whether the index contains what the peer wrote last of the resource with this identity key. */
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
