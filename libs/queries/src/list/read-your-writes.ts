import { Unavailable } from '@causeway/resources';
import { withDeadline, type Clock } from '@causeway/runtime';
import { followIndex, type IndexReader, type ResourceStore } from '@causeway/store';
import { InvalidQuery } from '../errors';

/** Timeout for a read to wait for a revision, in ms of `clock`. */
export interface WaitLimit {
  readonly clock: Clock;
  readonly timeout: number;
}

/**
 * Lets a read wait until the index contains the revision that the client names and every write made through this
 * process, so that one replica always shows its own writes (docs/design.md §2).
 */
export class ReadYourWrites {
  private newestWrite = 0;

  constructor(
    private readonly index: IndexReader,
    private readonly store: Pick<ResourceStore, 'head'>,
    private readonly limit: WaitLimit,
  ) {}

  /** Follows the index until the returned function is called; a store of another incarnation resets the own writes. */
  follow(): () => void {
    return followIndex(this.index, { reload: () => (this.newestWrite = 0), apply: () => undefined });
  }

  /** Records the revision of a write made through this process. */
  recordWrite(revision: number): void {
    this.newestWrite = Math.max(this.newestWrite, revision);
  }

  /** Returns the revision that reads show now. Throws Unavailable before the index is loaded. */
  revision(): number {
    const point = this.index.point;
    if (!point) throw new Unavailable('This control plane is still reading its store; try again.');
    return point.revision;
  }

  /**
   * Resolves when reads show `minRevision` and this process's own writes. Rejects with Unavailable when that takes too
   * long, and with InvalidQuery for a revision that the store has not reached.
   */
  async wait(minRevision = 0): Promise<void> {
    const wanted = Math.max(minRevision, this.newestWrite);
    if (this.revision() >= wanted) return;
    await this.checkExists(minRevision);
    const { clock, timeout: longest } = this.limit;
    const tooLong = new Unavailable(`revision ${wanted} is not seen within ${longest} ms`);
    try {
      await withDeadline(clock, longest, tooLong, (signal) => this.index.reached(wanted, signal));
    } catch {
      const seen = this.index.point?.revision ?? 0;
      throw new Unavailable(`This replica has seen revision ${seen}, not yet ${wanted}; try again.`);
    }
  }

  private async checkExists(revision: number): Promise<void> {
    if (this.revision() >= revision) return;
    const newest = (await this.store.head()).revision;
    if (newest < revision) throw new InvalidQuery(`There is no revision ${revision} yet; the newest is ${newest}.`);
  }
}
