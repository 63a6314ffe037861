import { TokenBucket, type Clock } from '@causeway/runtime';
import type { SourceLimit } from '../decode/filters';

/** Sources that are remembered; a bucket of one that is forgotten is full again. */
const MAX_SOURCES = 100_000;

interface SourceCount {
  open: number;
  readonly bucket: TokenBucket;
}

/** Counts connections of each source address: open ones, and new ones a second. */
export class SourceLimits {
  private readonly sources = new Map<string, SourceCount>();

  constructor(
    private readonly limit: SourceLimit,
    private readonly clock: Clock,
  ) {}

  /** Takes a connection of a source, or says which limit it has reached. Who got `taken` calls `leave` at its end. */
  enter(address: string): 'taken' | 'rate' | 'connections' {
    const source = this.of(address);
    if (source.bucket.take() !== undefined) return 'rate';
    if (source.open >= this.limit.connections) return 'connections';
    source.open += 1;
    return 'taken';
  }

  leave(address: string): void {
    const source = this.sources.get(address);
    if (source) source.open -= 1;
  }

  private of(address: string): SourceCount {
    const known = this.sources.get(address);
    if (known) return known;
    if (this.sources.size >= MAX_SOURCES) this.forgetIdle();
    const source = { open: 0, bucket: new TokenBucket(this.limit, this.clock) };
    this.sources.set(address, source);
    return source;
  }

  /** Forgets sources without connections, the oldest first, until there is room for as many again. */
  private forgetIdle(): void {
    for (const [address, { open }] of this.sources) {
      if (open === 0) this.sources.delete(address);
      if (this.sources.size < MAX_SOURCES / 2) return;
    }
  }
}
