import { yieldToEventLoop } from '@causeway/runtime';

/**
 * The bytes that all watches hold together. A buffer held by many sockets counts once, as it is in memory once.
 * `onExceeded` is called when more than `limit` bytes are held, and must make watches release memory.
 */
export class WatchMemory {
  private readonly holders = new Map<Buffer, number>();
  private held = 0;
  private shedding = false;

  constructor(
    readonly limit: number,
    private readonly onExceeded: () => void,
  ) {}

  get bytes(): number {
    return this.held;
  }

  /** Adds to the held bytes; negative when they are released. */
  add(bytes: number): void {
    this.held += bytes;
    if (this.held <= this.limit || this.shedding) return;
    this.shedding = true;
    this.onExceeded();
    this.shedding = false;
  }

  /** Adds a holder of a buffer. */
  hold(buffer: Buffer): void {
    const holders = this.holders.get(buffer) ?? 0;
    this.holders.set(buffer, holders + 1);
    if (holders === 0) this.add(buffer.length);
  }

  /** Removes a holder of a buffer. */
  release(buffer: Buffer): void {
    const holders = this.holders.get(buffer) ?? 0;
    if (holders > 1) this.holders.set(buffer, holders - 1);
    else if (this.holders.delete(buffer)) this.add(-buffer.length);
  }
}

/** Maximum bytes that all watches together write in one turn of the event loop; takes about a millisecond. */
const MAX_BYTES_PER_TURN = 1024 * 1024;

/**
 * Spreads the writes of all watches over turns of the event loop, so that a large event for hundreds of readers does
 * not delay other work. Watches that have one event to send after a change of the index share one microtask.
 */
export class WritePacer {
  private spent = 0;
  private running = false;
  private readonly queue: (() => void)[] = [];
  private due: (() => void)[] = [];

  /** Calls back after all watches have recorded the change; a callback must not throw. */
  soon(send: () => void): void {
    if (this.due.push(send) > 1) return;
    queueMicrotask(() => {
      const sends = this.due;
      this.due = [];
      for (const one of sends) one();
    });
  }

  /** Whether `take` would let the next event be written now. */
  get hasRoom(): boolean {
    return this.queue.length === 0 && this.spent < MAX_BYTES_PER_TURN;
  }

  /** Returns undefined if `bytes` may be written now; else a promise that resolves in the turn in which they may, in order of the calls. */
  take(bytes: number): Promise<void> | undefined {
    this.start();
    if (this.hasRoom) {
      this.spent += bytes;
      return undefined;
    }
    return new Promise((resolve) => {
      this.queue.push(() => {
        this.spent += bytes;
        resolve();
      });
    });
  }

  private start(): void {
    if (this.running) return;
    this.running = true;
    void yieldToEventLoop().then(() => this.turn());
  }

  private turn(): void {
    this.running = false;
    this.spent = 0;
    while (this.queue.length > 0 && this.spent < MAX_BYTES_PER_TURN) this.queue.shift()?.();
    if (this.queue.length > 0) this.start();
  }
}
