import { Unavailable } from '@causeway/resources';
import type { Clock } from '@causeway/runtime';
import type { IndexReader, ResourceStore } from '@causeway/store';
import { HttpError } from '../http/http-error';

/** How long a read may wait, ms. */
export interface WaitLimit {
  readonly clock: Clock;
  readonly longest: number;
}

/**
 * Lets a read wait until the index has seen what it must: a revision the user names, and what was written through
 * this very server, so that one replica always shows its own writes (design.md §2).
 */
export class Freshness {
  private ownWrites = 0;

  constructor(
    private readonly index: IndexReader,
    private readonly store: Pick<ResourceStore, 'head'>,
    private readonly limit: WaitLimit,
  ) {}

  /** Forgets what a store of another incarnation had written, until the returned function is called. */
  follow(): () => void {
    return this.index.subscribe((event) => {
      if (event.reloaded) this.ownWrites = 0;
    });
  }

  /** Notes the revision of a write made here. */
  noteWrite(revision: number): void {
    this.ownWrites = Math.max(this.ownWrites, revision);
  }

  /** The revision that reads show now; throws Unavailable before the first load. */
  revision(): number {
    const point = this.index.point;
    if (!point) throw new Unavailable('This control plane is still reading its store; try again.');
    return point.revision;
  }

  /**
   * Waits until reads show `minRevision` and this server's own writes; throws Unavailable when that takes too long, and
   * 400 for a revision that nobody has written.
   */
  async wait(minRevision = 0): Promise<void> {
    const wanted = Math.max(minRevision, this.ownWrites);
    if (this.revision() >= wanted) return;
    await this.checkExists(minRevision);
    const stop = new AbortController();
    const timer = this.limit.clock.after(this.limit.longest, () => stop.abort());
    try {
      await this.index.reached(wanted, stop.signal);
    } catch {
      const seen = this.index.point?.revision ?? 0;
      throw new Unavailable(`This replica has seen revision ${seen}, not yet ${wanted}; try again.`);
    } finally {
      timer.cancel();
    }
  }

  private async checkExists(revision: number): Promise<void> {
    if (this.revision() >= revision) return;
    const newest = (await this.store.head()).revision;
    if (newest < revision) throw new HttpError(400, `There is no revision ${revision} yet; the newest is ${newest}.`);
  }
}
