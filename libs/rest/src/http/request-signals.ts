import { Unavailable } from '@causeway/resources';
import type { Clock } from '@causeway/runtime';
import { HttpError } from './http-error';

/** A response that can close, completely sent or not: Node's ServerResponse is one. */
export interface ClosingResponse {
  once(event: 'close', listener: () => void): unknown;
}

/**
 * The open requests, each with an AbortSignal that aborts when the client disconnects, the request times out, or the
 * server ends. Work for a request stops when its signal aborts.
 */
export class RequestSignals {
  private readonly responses = new WeakMap<object, ClosingResponse>();
  private readonly signals = new WeakMap<object, AbortSignal>();
  private readonly active = new Set<AbortController>();
  private closed = false;

  constructor(
    private readonly clock: Clock,
    private readonly deadline: number,
  ) {}

  /** Registers a request and its response. */
  begin(request: object, response: ClosingResponse): void {
    this.responses.set(request, response);
  }

  /** Returns the signal of a request. It is created at the first call: most requests need none. */
  getSignal(request: object): AbortSignal {
    const known = this.signals.get(request);
    if (known) return known;
    const controller = new AbortController();
    const end = (reason: Error): void => {
      timer.cancel();
      this.active.delete(controller);
      controller.abort(reason);
    };
    const timer = this.clock.after(this.deadline, () => {
      const detail = `This request took longer than ${this.deadline / 1_000} s and was given up.`;
      end(new HttpError(503, detail, { headers: { 'retry-after': '1' } }));
    });
    this.responses.get(request)?.once('close', () => end(new Unavailable('the client is gone')));
    if (this.closed) end(ending());
    else this.active.add(controller);
    this.signals.set(request, controller.signal);
    return controller.signal;
  }

  /** Aborts all signals, including those of later requests. */
  close(): void {
    this.closed = true;
    for (const controller of this.active) controller.abort(ending());
    this.active.clear();
  }
}

function ending(): Unavailable {
  return new Unavailable('this control plane is ending');
}
