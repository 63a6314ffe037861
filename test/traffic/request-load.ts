import { Agent, request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import type { At } from './calls';

/** Outcome of the requests of a load. */
export interface RequestOutcome {
  readonly requests: number;
  /** Requests without a good answer: when they began, ms since the load did, and why. */
  readonly failures: readonly { readonly at: number; readonly reason: string }[];
  /**
   * Requests that were sent again, once: their connection had served others, and was closed before it said anything. That is what HTTP
   * clients do (RFC 9112 §9.3.1).
   */
  readonly resent: number;
  /** Requests by their answer. */
  readonly answers: Readonly<Record<string, number>>;
  /** ms of each request with an answer, from when it was due. */
  readonly times: readonly number[];
  /** ms that each request waited here for a connection, for one of those that last or for a new one. */
  readonly waits: readonly number[];
}

/** An answer to a request. */
export interface Answer {
  /** When the request was due, by performance.now(). */
  readonly begun: number;
  readonly text: string;
}

export interface RequestLoadOptions {
  /** Requests a second. */
  readonly rate: number;
  /** Number of them on connections of their own. */
  readonly fresh: number;
  /** Connections that last, for all the others, at most; 32 by default. */
  readonly lasting?: number;
  /** Most requests under way: if the host cannot answer the rate, fewer are sent. By default all of the rate. */
  readonly mostOpen?: number;
  /** Called with every good answer. */
  readonly answered?: (answer: Answer) => void;
}

const PATIENCE = 20_000;
const TICK = 10;

/** Sends HTTP requests to one address at a steady rate, however long answers take, until it is stopped; see `mostOpen`. */
export class RequestLoad {
  private readonly began = performance.now();
  private readonly lasting: Agent;
  private readonly failures: { readonly at: number; readonly reason: string }[] = [];
  private readonly answers = new Map<string, number>();
  private readonly times: number[] = [];
  private readonly waits: number[] = [];
  private readonly open = new Set<Promise<void>>();
  private readonly running: Promise<void>;
  private requests = 0;
  /** Requests that were due and not sent. */
  private skipped = 0;
  private resent = 0;
  private isOver = false;

  constructor(
    private readonly at: At,
    private readonly options: RequestLoadOptions,
  ) {
    const { lasting: maxSockets = 32 } = options;
    this.lasting = new Agent({ keepAlive: true, maxSockets, maxFreeSockets: maxSockets, scheduling: 'fifo' });
    this.running = this.run();
  }

  /** ms since it began. */
  get elapsed(): number {
    return performance.now() - this.began;
  }

  /** Returns the outcome so far. */
  get outcome(): RequestOutcome {
    const { requests, failures, resent, times, waits } = this;
    const answers = Object.fromEntries(this.answers);
    return { requests, failures: [...failures], resent, times: [...times], waits: [...waits], answers };
  }

  /** Sends nothing more; resolves when all requests are answered or have failed. */
  async stop(): Promise<RequestOutcome> {
    this.isOver = true;
    await this.running;
    await Promise.all(this.open);
    this.lasting.destroy();
    return this.outcome;
  }

  private async run(): Promise<void> {
    const { rate, fresh, mostOpen = Infinity } = this.options;
    while (!this.isOver) {
      const due = Math.floor((this.elapsed * rate) / 1_000) - this.skipped;
      for (; this.requests < due; this.requests++) {
        if (this.open.size >= mostOpen) {
          this.skipped += due - this.requests;
          break;
        }
        // Spread evenly among the others.
        const isFresh = Math.floor(((this.requests + 1) * fresh) / rate) > Math.floor((this.requests * fresh) / rate);
        const one = this.one(isFresh);
        this.open.add(one);
        void one.then(() => this.open.delete(one));
      }
      await pause(TICK);
    }
  }

  private async one(isFresh: boolean): Promise<void> {
    const at = this.elapsed;
    let answer = await this.send(isFresh ? false : this.lasting);
    if (answer.type === 'closed') {
      this.resent++;
      answer = await this.send(false);
    }
    if (answer.type === 'answer') {
      this.times.push(this.elapsed - at);
      this.answers.set(answer.text, (this.answers.get(answer.text) ?? 0) + 1);
      this.options.answered?.({ begun: this.began + at, text: answer.text });
    } else this.failures.push({ at: Math.round(at), reason: answer.type === 'closed' ? 'closed' : answer.reason });
  }

  private send(agent: Agent | false): Promise<Sent> {
    const { address: host, port } = this.at;
    return new Promise((resolve) => {
      const headers = agent ? {} : { connection: 'close' };
      const at = this.elapsed;
      const sent = request({ host, port, agent, headers, timeout: PATIENCE }, (answer) => {
        let text = '';
        answer.on('data', (part: Buffer) => (text += part.toString()));
        answer.on('error', (error) => resolve({ type: 'failure', reason: error.message }));
        answer.on('end', () => {
          const isGood = answer.statusCode === 200;
          resolve(isGood ? { type: 'answer', text } : { type: 'failure', reason: `${answer.statusCode} ${text}` });
        });
      });
      sent.once('socket', () => this.waits.push(this.elapsed - at));
      sent.on('timeout', () => sent.destroy(new Error('no answer in time')));
      sent.on('error', (error: Error & { readonly code?: string }) => {
        const isClosed = sent.reusedSocket && (error.code === 'ECONNRESET' || error.code === 'EPIPE');
        resolve(isClosed ? { type: 'closed' } : { type: 'failure', reason: error.message });
      });
      sent.end();
    });
  }
}

type Sent =
  | { readonly type: 'answer'; readonly text: string }
  /** A connection that had served others was closed before an answer began. */
  | { readonly type: 'closed' }
  | { readonly type: 'failure'; readonly reason: string };
