import { readPeerAddress } from '@causeway/grpc-server';
import { Unavailable } from '@causeway/resources';
import type { Clock } from '@causeway/runtime';

/** The part of a call that can be cancelled. */
export interface CancellableCall {
  getPeer(): string;
  once(event: 'cancelled', listener: () => void): unknown;
}

/** One call under way. */
export interface ActiveCall {
  /** Aborts when the client disconnects, at the timeout of the call, when the server shuts down, and by `abort`. */
  readonly signal: AbortSignal;
  readonly abort: (reason: Error) => void;
  /** The address of the client. */
  readonly client: string;
  /** Call it when the call is answered. */
  readonly end: () => void;
}

/** Timeout for calls in progress at shutdown, ms; their signals are aborted before. */
const DRAIN_TIME = 2_000;
const DRAIN_STEP = 10;

/** The calls under way, each with an AbortSignal. */
export class ActiveCalls {
  private readonly open = new Set<AbortController>();
  private closed = false;

  constructor(private readonly clock: Clock) {}

  /** Starts a call with a timeout of `longest` ms. */
  begin(call: CancellableCall, longest: number): ActiveCall {
    const controller = new AbortController();
    const seconds = longest / 1_000;
    const timer = this.clock.after(longest, () =>
      controller.abort(new Unavailable(`this call took longer than ${seconds} s and was given up`)),
    );
    const end = (): void => {
      timer.cancel();
      this.open.delete(controller);
    };
    call.once('cancelled', () => {
      end();
      controller.abort(new Unavailable('the client is gone'));
    });
    this.open.add(controller);
    if (this.closed) controller.abort(ending());
    const abort = (reason: Error): void => controller.abort(reason);
    return { signal: controller.signal, abort, client: readPeerAddress(call.getPeer()), end };
  }

  /** Number of calls under way. */
  get size(): number {
    return this.open.size;
  }

  /** Aborts all signals, also those of later calls; resolves when the calls have ended or timed out. */
  async close(): Promise<void> {
    this.closed = true;
    for (const controller of this.open) controller.abort(ending());
    for (const end = this.clock.elapsed() + DRAIN_TIME; this.open.size > 0 && this.clock.elapsed() < end;)
      await this.clock.sleep(DRAIN_STEP);
  }
}

function ending(): Unavailable {
  return new Unavailable('this control plane is ending');
}
