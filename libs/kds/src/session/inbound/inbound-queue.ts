import type { ListenedStream, StreamListener } from '../peer-stream';

/** Consumes the messages of a stream. If `message` returns a promise, the next message waits until it resolves; it never rejects. */
export interface MessageConsumer extends Omit<StreamListener, 'message'> {
  message(bytes: Buffer): Promise<void> | void;
}

/** Decides when the next message may be consumed. */
export interface QueueLimiter {
  /** Returns undefined if a message of this size is within the peer's rates; else a promise that resolves when it is. */
  message(bytes: number): Promise<void> | undefined;
  /** Resolves when other peers have had their turn. */
  yieldTurn(): Promise<void>;
}

/** Number of messages consumed without a pause before other peers get their turn. */
const BURST = 100;

/** Memory of a message in addition to its bytes. */
const MESSAGE_OVERHEAD = 128;

/**
 * The undecoded messages of a stream that wait for their consumer, in order. Above the bounds the stream is not read,
 * so flow control delays the peer; below half of the stream's bound it is read again. Listens from its construction:
 * messages that arrive before there is a consumer wait under the same bounds.
 */
export class InboundQueue {
  private waiting: Buffer[] = [];
  /** Number of messages in `waiting` that were consumed. */
  private taken = 0;
  private bytes = 0;
  private consumer: MessageConsumer | undefined;
  private isPumping = false;
  private isPaused = false;
  private over: string | undefined;
  private readonly readOn = (): void => this.updateFlow();

  constructor(
    private readonly stream: ListenedStream,
    private readonly budget: InboundBudget,
    private readonly pace: QueueLimiter,
  ) {
    stream.listen({
      message: (bytes) => this.arrived(bytes),
      drain: () => this.consumer?.drain(),
      ended: (reason) => this.ended(reason),
    });
  }

  /** Bytes that wait here. */
  get queued(): number {
    return this.bytes;
  }

  /** Whether the stream is paused. */
  get isFull(): boolean {
    return this.isPaused;
  }

  /** Delivers the waiting messages and all later ones. Call it once. */
  deliver(consumer: MessageConsumer): void {
    this.consumer = consumer;
    void this.pump();
    if (this.over !== undefined) consumer.ended(this.over);
  }

  private arrived(bytes: Buffer): void {
    if (this.over !== undefined) return;
    this.waiting.push(bytes);
    this.count(bytes.length + MESSAGE_OVERHEAD);
    void this.pump();
    this.updateFlow();
  }

  private ended(reason: string): void {
    if (this.over !== undefined) return;
    this.over = reason;
    this.budget.cancel(this.readOn);
    this.waiting = [];
    this.count(-this.bytes);
    this.consumer?.ended(reason);
  }

  private async pump(): Promise<void> {
    const { consumer } = this;
    if (this.isPumping || !consumer) return;
    this.isPumping = true;
    for (let burst = 1; ; burst++) {
      const next = this.waiting[this.taken];
      if (!next || this.over !== undefined) break;
      const due = this.pace.message(next.length);
      if (due) await due;
      const working = this.over === undefined ? consumer.message(next) : undefined;
      if (working) await working;
      else if (burst % BURST === 0) await this.pace.yieldTurn();
      this.left(next);
    }
    this.isPumping = false;
  }

  /** A message counts until it is applied: its decoded form is in memory until then. */
  private left(message: Buffer): void {
    if (this.over !== undefined) return;
    this.taken++;
    if (this.taken * 2 > this.waiting.length) {
      this.waiting = this.waiting.slice(this.taken);
      this.taken = 0;
    }
    this.count(-message.length - MESSAGE_OVERHEAD);
    this.updateFlow();
  }

  private count(bytes: number): void {
    this.bytes += bytes;
    if (bytes > 0) this.budget.reserve(bytes);
    else this.budget.release(-bytes);
  }

  /** Pauses or resumes reading, depending on the bounds. */
  private updateFlow(): void {
    if (this.over !== undefined) return;
    const { stream: bound } = this.budget.bounds;
    // A stream without waiting messages is always read: it holds at most one message.
    const isSpent = this.budget.isSpent && this.bytes > 0;
    if (this.bytes > bound || isSpent) {
      if (isSpent) this.budget.onFree(this.readOn);
      this.isPaused = true;
      this.stream.pause();
    } else if (this.isPaused && this.bytes <= bound / 2) {
      this.isPaused = false;
      this.stream.resume();
    }
  }
}

/** Maximum bytes of undecoded messages that wait in this process. */
export interface InboundBounds {
  /** For one stream, in addition to one message. */
  readonly stream: number;
  /** For all streams together, in addition to one message each. */
  readonly process: number;
}

/** 4 MiB a stream and 64 MiB in all. */
const DEFAULT_INBOUND_BOUNDS: InboundBounds = { stream: 4 * 1024 * 1024, process: 64 * 1024 * 1024 };

/**
 * Counts the bytes in the queues of all streams of a process. Streams are read while the count is within the bound;
 * streams that were paused for it are read again once half of it is free.
 */
export class InboundBudget {
  private queued = 0;
  private readonly stopped = new Set<() => void>();

  constructor(readonly bounds: InboundBounds = DEFAULT_INBOUND_BOUNDS) {}

  /** Bytes that wait in all queues. */
  get bytes(): number {
    return this.queued;
  }

  get isSpent(): boolean {
    return this.queued > this.bounds.process;
  }

  reserve(bytes: number): void {
    this.queued += bytes;
  }

  release(bytes: number): void {
    this.queued -= bytes;
    if (this.stopped.size === 0 || this.queued > this.bounds.process / 2) return;
    const stopped = [...this.stopped];
    this.stopped.clear();
    for (const resume of stopped) resume();
  }

  /** Calls `resume` once, when half of the bound is free again. */
  onFree(resume: () => void): void {
    this.stopped.add(resume);
  }

  /** Cancels an `onFree`. */
  cancel(resume: () => void): void {
    this.stopped.delete(resume);
  }
}
