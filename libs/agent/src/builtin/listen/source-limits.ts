import { TokenBucket, type Clock } from '@causeway/runtime';
import type { SourceLimit } from '../decode/filters';

/** Maximum number of sources kept; a source that was dropped starts with a full bucket. */
const MAX_SOURCES = 100_000;

interface SourceCount {
  open: number;
  readonly bucket: TokenBucket;
}

/** Limits open connections, and new ones per second, of each source address. */
export class SourceLimits {
  private readonly sources = new Map<string, SourceCount>();

  constructor(
    private readonly limit: SourceLimit,
    private readonly clock: Clock,
  ) {}

  /** Admits a connection, or returns the reached limit. After `taken`, call `leave` when it ends. */
  enter(address: string): 'taken' | 'rate' | 'connections' {
    const source = this.getSource(address);
    if (source.bucket.take() !== undefined) return 'rate';
    if (source.open >= this.limit.connections) return 'connections';
    source.open += 1;
    return 'taken';
  }

  leave(address: string): void {
    const source = this.sources.get(address);
    if (source) source.open -= 1;
  }

  private getSource(address: string): SourceCount {
    const known = this.sources.get(address);
    if (known) return known;
    if (this.sources.size >= MAX_SOURCES) this.forgetIdle();
    const source = { open: 0, bucket: new TokenBucket(this.limit, this.clock) };
    this.sources.set(address, source);
    return source;
  }

  /** Drops sources without open connections, oldest first, until half of the capacity is free. */
  private forgetIdle(): void {
    for (const [address, { open }] of this.sources) {
      if (open === 0) this.sources.delete(address);
      if (this.sources.size < MAX_SOURCES / 2) return;
    }
  }
}
