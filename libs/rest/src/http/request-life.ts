import { Unavailable } from '@causeway/resources';
import type { Clock } from '@causeway/runtime';
import { HttpFailure } from './http-failure';

/** The end of an answer, whole or not: Node's ServerResponse is one. */
export interface AnswerEnd {
  once(event: 'close', listener: () => void): unknown;
}

/**
 * How long requests live: until the client is gone, the deadline of the request has passed, or the server ends. Work for
 * a request stops when its signal aborts.
 */
export class RequestLives {
  private readonly answers = new WeakMap<object, AnswerEnd>();
  private readonly signals = new WeakMap<object, AbortSignal>();
  private readonly living = new Set<AbortController>();
  private closed = false;

  constructor(
    private readonly clock: Clock,
    private readonly deadline: number,
  ) {}

  /** Notes a request and the answer that it gets. */
  begin(request: object, answer: AnswerEnd): void {
    this.answers.set(request, answer);
  }

  /** The signal of a request. It is made when first asked for: most requests need none. */
  signalOf(request: object): AbortSignal {
    const known = this.signals.get(request);
    if (known) return known;
    const life = new AbortController();
    const end = (reason: Error): void => {
      timer.cancel();
      this.living.delete(life);
      life.abort(reason);
    };
    const timer = this.clock.after(this.deadline, () => {
      const detail = `This request took longer than ${this.deadline / 1_000} s and was given up.`;
      end(new HttpFailure(503, detail, { headers: { 'retry-after': '1' } }));
    });
    this.answers.get(request)?.once('close', () => end(new Unavailable('the client is gone')));
    if (this.closed) end(ending());
    else this.living.add(life);
    this.signals.set(request, life.signal);
    return life.signal;
  }

  /** Gives up all requests. */
  close(): void {
    this.closed = true;
    for (const life of this.living) life.abort(ending());
    this.living.clear();
  }
}

function ending(): Unavailable {
  return new Unavailable('this control plane is ending');
}
