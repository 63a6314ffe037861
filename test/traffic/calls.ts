import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

/** An address that listens. */
export interface At {
  readonly address: string;
  readonly port: number;
}

/** Time limit of a call, ms: a connection that hangs is a failure. */
const PATIENCE = 20_000;

export interface CallOptions {
  readonly text?: string;
  /** The address from which the call comes. */
  readonly localAddress?: string;
}

/** Returns the answer on a new connection; empty if it is refused, ends, or nothing comes in time. */
export function call({ address, port }: At, { text = 'who', localAddress }: CallOptions = {}): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect({ host: address, port, ...(localAddress !== undefined && { localAddress }) });
    const end = (answer: string): void => {
      socket.destroy();
      resolve(answer);
    };
    socket.setTimeout(PATIENCE, () => end(''));
    socket.on('connect', () => socket.write(text));
    socket.on('data', (part: Buffer) => end(part.toString()));
    socket.on('error', () => end('')).on('close', () => end(''));
  });
}

/** Calls until there is an answer; returns it, and ms since `began` (performance.now()). */
export async function firstAnswer(
  at: At,
  { text = 'who', began = performance.now(), timeoutMs = 120_000 } = {},
): Promise<{ readonly answer: string; readonly ms: number }> {
  for (;;) {
    const answer = await call(at, { text });
    const ms = performance.now() - began;
    if (answer !== '') return { answer, ms };
    if (ms > timeoutMs) throw new Error(`nobody answered at ${at.address}:${at.port} within ${timeoutMs} ms`);
    await pause(2);
  }
}

/** Outcome of the calls of a load. */
export interface LoadOutcome {
  /** Calls that have begun, and those that have ended. */
  readonly begun: number;
  readonly calls: number;
  /** Calls without an answer: how many had begun before each. */
  readonly failures: readonly number[];
  /** Calls by their answer. */
  readonly answers: Readonly<Record<string, number>>;
  /** Lasting connections that ended between two calls and were made anew. */
  readonly reconnected: number;
}

export interface LoadOptions {
  /** Calls a second on connections of their own. */
  readonly rate?: number;
  /** Connections that last, each with a call every 20 ms. */
  readonly lasting?: number;
}

/** Calls one address all the time, until it is stopped. */
export class Load {
  private readonly failures: number[] = [];
  private readonly answers = new Map<string, number>();
  private readonly running: Promise<void>[] = [];
  private begun = 0;
  private calls = 0;
  private reconnected = 0;
  private isOver = false;

  constructor(
    private readonly at: At,
    { rate = 50, lasting = 4 }: LoadOptions = {},
  ) {
    if (rate > 0) this.running.push(this.callAnew(rate));
    for (let n = 0; n < lasting; n++) this.running.push(this.callOn());
  }

  /** Returns the outcome so far. */
  get outcome(): LoadOutcome {
    const { begun, calls, failures, reconnected } = this;
    return { begun, calls, failures: [...failures], answers: Object.fromEntries(this.answers), reconnected };
  }

  async stop(): Promise<LoadOutcome> {
    this.isOver = true;
    await Promise.all(this.running);
    return this.outcome;
  }

  /** Records the outcome of call number `n`. */
  private note(n: number, answer: string): void {
    this.calls++;
    if (answer === '') this.failures.push(n);
    else this.answers.set(answer, (this.answers.get(answer) ?? 0) + 1);
  }

  private async callAnew(rate: number): Promise<void> {
    const open = new Set<Promise<void>>();
    while (!this.isOver) {
      const n = this.begun++;
      const one = call(this.at).then((answer) => this.note(n, answer));
      open.add(one);
      void one.then(() => open.delete(one));
      await pause(1_000 / rate);
    }
    await Promise.all(open);
  }

  private async callOn(): Promise<void> {
    let connection = new LastingConnection(this.at);
    while (!this.isOver) {
      if (connection.isOver) {
        this.reconnected++;
        connection = new LastingConnection(this.at);
      }
      const n = this.begun++;
      this.note(n, await connection.call('who'));
      await pause(20);
    }
    connection.close();
  }
}

/** A connection with one call after the other. */
class LastingConnection {
  isOver = false;
  private readonly socket: Socket;
  private waiting: ((answer: string) => void) | undefined;

  constructor({ address, port }: At) {
    this.socket = connect(port, address).setNoDelay(true);
    this.socket.on('error', () => undefined);
    this.socket.on('data', (part: Buffer) => this.answer(part.toString()));
    this.socket.on('end', () => (this.isOver = true));
    this.socket.on('close', () => {
      this.isOver = true;
      this.answer('');
    });
  }

  /** The answer; empty where the connection ends before it, or nothing comes in time. */
  call(text: string): Promise<string> {
    if (this.isOver) return Promise.resolve('');
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.close(), PATIENCE);
      this.waiting = (answer) => {
        clearTimeout(timer);
        resolve(answer);
      };
      this.socket.write(text);
    });
  }

  close(): void {
    this.socket.destroy();
  }

  private answer(text: string): void {
    const { waiting } = this;
    this.waiting = undefined;
    waiting?.(text);
  }
}
