import type { LeaderTerm } from '@causeway/runtime';
import type { ResourceStore, WriteRequest, WriteResult } from '@causeway/store';

/**
 * Writes what users create. While this replica leads, its loops complete each new resource in that write (docs/adr/0040-one-write-a-creation.md);
 * those of another replica get an address and names by a write of the leader.
 */
export class LeaderAwareWriter {
  private leader: Pick<ResourceStore, 'write'> | undefined;

  constructor(private readonly store: Pick<ResourceStore, 'write'>) {}

  /** Uses the runner of the loops until the term ends. */
  useRunner(runner: Pick<ResourceStore, 'write'>, { signal }: Pick<LeaderTerm, 'signal'>): void {
    if (signal.aborted) return;
    this.leader = runner;
    const end = (): void => {
      if (this.leader === runner) this.leader = undefined;
    };
    signal.addEventListener('abort', end, { once: true });
  }

  /** Throws as the store does. */
  write(request: WriteRequest): Promise<WriteResult> {
    return (this.leader ?? this.store).write(request);
  }
}
