import { withDerivedFields, type ControlLoop } from '@causeway/loops';
import type { Clock, LeaderTerm } from '@causeway/runtime';
import type { PutChange } from '@causeway/store';

/**
 * The loops of this replica's term as leader, for admission: a resource that is created here gets the fields that they derive. Another replica's
 * resources get them by a write of the leader.
 */
export class DerivedFields {
  private loops: readonly ControlLoop[] = [];

  constructor(private readonly clock: Pick<Clock, 'now'>) {}

  /** Uses the loops until the term ends. */
  useLoops(loops: readonly ControlLoop[], { signal }: Pick<LeaderTerm, 'signal'>): void {
    this.loops = signal.aborted ? [] : loops;
    signal.addEventListener('abort', () => (this.loops = []), { once: true });
  }

  /** Returns a put with the fields that the loops derive. */
  readonly complete = (put: PutChange): PutChange =>
    this.loops.length === 0 ? put : withDerivedFields(this.loops, put, this.clock.now());
}
