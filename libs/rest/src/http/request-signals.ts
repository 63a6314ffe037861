import { Unavailable } from '@causeway/resources';
import type { Clock } from '@causeway/runtime';
import { HttpError } from './http-error';

/** The end of an answer, whole or not: Node's ServerResponse is one. */
export interface ClosingResponse {
  once(event: 'close', listener: () => void): unknown;
}

/**
 * How long requests live: until the client is gone, the deadline of the request has passed, or the server ends. Work for
 * a request stops when its signal aborts.
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

  /** Notes a request and the answer that it gets. */
  begin(request: object, answer: ClosingResponse): void {
    this.responses.set(request, answer);
  }

  /** The signal of a request. It is made when first asked for: most requests need none. */
  signalOf(request: object): AbortSignal {
    const known = this.signals.get(request);
    if (known) return known;
    const life = new AbortController();
    const end = (reason: Error): void => {
      timer.cancel();
      this.active.delete(life);
      life.abort(reason);
    };
    const timer = this.clock.after(this.deadline, () => {
      const detail = `This request took longer than ${this.deadline / 1_000} s and was given up.`;
      end(new HttpError(503, detail, { headers: { 'retry-after': '1' } }));
    });
    this.responses.get(request)?.once('close', () => end(new Unavailable('the client is gone')));
    if (this.closed) end(ending());
    else this.active.add(life);
    this.signals.set(request, life.signal);
    return life.signal;
  }

  /** Gives up all requests. */
  close(): void {
    this.closed = true;
    for (const life of this.active) life.abort(ending());
    this.active.clear();
  }
}

function ending(): Unavailable {
  return new Unavailable('this control plane is ending');
}
