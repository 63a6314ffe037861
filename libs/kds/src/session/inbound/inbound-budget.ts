/** Bounds of what peers may have waiting in this process, undecoded; bytes. */
export interface InboundBounds {
  /** Of one stream, beside one message. */
  readonly stream: number;
  /** Of all streams together, beside one message each. */
  readonly process: number;
}

/** 4 MiB a stream and 64 MiB in all. */
export const DEFAULT_INBOUND_BOUNDS: InboundBounds = { stream: 4 * 1024 * 1024, process: 64 * 1024 * 1024 };

/**
 * Counts the bytes that wait in the queues of all streams of a process. A stream reads on while the count is within the
 * bound; those that stopped because of it read on once half of it is free.
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

  /** Calls `resume` once when bytes are free again. */
  onFree(resume: () => void): void {
    this.stopped.add(resume);
  }

  /** Takes `await` back. */
  cancel(resume: () => void): void {
    this.stopped.delete(resume);
  }
}
