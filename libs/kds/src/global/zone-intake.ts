import type { Clock } from '@causeway/runtime';
import { InboundQueue } from '../stream/inbound-queue';
import { IntakeBudget, type IntakeBounds } from '../stream/intake-budget';
import { IntakeScheduler } from '../stream/intake-scheduler';
import { DEFAULT_RATES, PeerPace, type PeerRates } from '../stream/peer-pace';
import type { ListenedStream } from '../stream/peer-stream';

/** What zones may cost a replica of the global. */
export interface IntakeSettings {
  /** Bytes that wait undecoded. */
  readonly bounds?: IntakeBounds;
  /** How fast one stream of a zone is taken in. */
  readonly rates?: Partial<PeerRates>;
}

/** What zones cost this replica now. */
export interface IntakeFigures {
  /** Bytes of their messages that wait to be taken in. */
  readonly queuedBytes: number;
  /** Zones that are held back: by flow control, or by their rates. */
  readonly heldBack: number;
  /** Streams that were ended because the zone went beyond a bound, since the start. */
  readonly ended: number;
}

/** The way in of one stream of a zone. */
export interface ZoneInlet {
  readonly queue: InboundQueue;
  readonly pace: PeerPace;
  /** Aborts when the stream has ended. */
  readonly life: AbortController;
}

/** What all zones of a replica share as they send: memory for what waits, and turns. */
export class ZoneIntake {
  readonly scheduler: IntakeScheduler;
  private readonly budget: IntakeBudget;
  private readonly rates: PeerRates;
  private readonly inlets = new Map<ZoneInlet, string>();
  private endedStreams = 0;

  constructor(
    private readonly clock: Clock,
    { bounds, rates }: IntakeSettings = {},
  ) {
    this.budget = new IntakeBudget(bounds);
    this.rates = { ...DEFAULT_RATES, ...rates };
    this.scheduler = new IntakeScheduler({ clock });
  }

  /** Listens to a stream from now on; what arrives waits under the bounds until there is a consumer. */
  admit(zone: string, stream: ListenedStream): ZoneInlet {
    const life = new AbortController();
    const pace = new PeerPace(this.rates, this.clock, life.signal);
    const queue = new InboundQueue(stream, this.budget, {
      message: (bytes) => pace.message(bytes),
      rest: this.scheduler.rest,
    });
    const inlet = { queue, pace, life };
    this.inlets.set(inlet, zone);
    life.signal.addEventListener('abort', () => void this.inlets.delete(inlet), { once: true });
    return inlet;
  }

  /** A stream was ended because its zone went beyond a bound. */
  countEnd(): void {
    this.endedStreams++;
  }

  figures(): IntakeFigures {
    const held = [...this.inlets].filter(([{ queue, pace }]) => queue.isFull || pace.isHeld).map(([, zone]) => zone);
    return { queuedBytes: this.budget.bytes, heldBack: new Set(held).size, ended: this.endedStreams };
  }
}
