import type { Change, IndexReader, WriteResult } from '@causeway/store';
import type { InboundScheduler } from './inbound-scheduler';
import type { PeerRateLimiter } from './peer-rate-limiter';

/** Changes of a peer that may be written and not yet be in the index. */
const WINDOW = 500;

/** What a share is of. */
export interface InboundShareOptions {
  /** Who it is that has the share. */
  readonly peer: string;
  readonly scheduler: InboundScheduler;
  readonly index: Pick<IndexReader, 'reached'>;
  readonly pace?: PeerRateLimiter;
  readonly signal: AbortSignal;
}

/** The part of one stream's peer in what all peers share. */
export class InboundShare {
  private revision = 0;
  /** Changes written since the index was last waited for. */
  private unseen = 0;

  constructor(private readonly options: InboundShareOptions) {}

  /** See InboundScheduler. */
  compute<T>(steps: Iterator<unknown, T>): Promise<T> {
    return this.options.scheduler.compute(this.options.peer, steps);
  }

  /** Whether others write at this time. */
  get isShared(): boolean {
    return this.options.scheduler.isShared(this.options.peer);
  }

  /**
   * Writes when it is the peer's turn and its rate allows it. Who writes much waits until the index holds what it wrote
   * before: what follows from a write, such as telling other zones, is done before the next one adds to it. Rejects with
   * the signal's reason when that aborts first.
   */
  async write(changes: readonly Change[], work: () => Promise<WriteResult>): Promise<WriteResult> {
    const { scheduler, index, pace, peer, signal } = this.options;
    const due = pace?.write(changes.length);
    if (due) await due;
    if (this.unseen > 0 && this.unseen + changes.length > WINDOW) {
      await index.reached(this.revision, signal);
      this.unseen = 0;
    }
    const result = await scheduler.write(peer, changes.length, work);
    this.revision = Math.max(this.revision, result.revision);
    this.unseen += changes.length;
    return result;
  }
}
