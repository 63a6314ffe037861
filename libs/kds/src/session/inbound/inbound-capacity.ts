import type { Clock } from '@causeway/runtime';
import { InboundQueue } from './inbound-queue';
import { InboundBudget, type InboundBounds } from './inbound-budget';
import { InboundScheduler } from './inbound-scheduler';
import { DEFAULT_RATES, PeerRateLimiter, type PeerRates } from './peer-rate-limiter';
import type { ListenedStream } from '../peer-stream';

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
