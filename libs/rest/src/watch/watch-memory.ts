/**
 * Bytes that all watches hold together. One buffer that many sockets hold is counted once, as it is in memory once.
 * `exceeded` is called when more than `most` are held, and has to make holders let go.
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

  /** Counts bytes that came, or went if negative. */
  add(bytes: number): void {
    this.held += bytes;
    if (this.held <= this.limit || this.shedding) return;
    this.shedding = true;
    this.onExceeded();
    this.shedding = false;
  }

  /** One more holder of a buffer. */
  hold(buffer: Buffer): void {
    const holders = this.holders.get(buffer) ?? 0;
    this.holders.set(buffer, holders + 1);
    if (holders === 0) this.add(buffer.length);
  }

  /** One holder less. */
  release(buffer: Buffer): void {
    const holders = this.holders.get(buffer) ?? 0;
    if (holders > 1) this.holders.set(buffer, holders - 1);
    else if (this.holders.delete(buffer)) this.add(-buffer.length);
  }
}
