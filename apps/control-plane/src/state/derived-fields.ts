import { withDerivedFields, type ControlLoop } from '@causeway/loops';
import { errorText, type Clock, type LeaderTerm, type Logger } from '@causeway/runtime';
import type { PutChange } from '@causeway/store';

/**
 * The loops of this replica's term as leader, for admission: a resource that is created here gets the fields that they derive. Another replica's
 * resources get them by a write of the leader.
 */
export class DerivedFields {
  private loops: readonly ControlLoop[] = [];

  constructor(private readonly options: { readonly clock: Pick<Clock, 'now'>; readonly logger: Logger }) {}

  /** Uses the loops until the term ends. */
  useLoops(loops: readonly ControlLoop[], { signal }: Pick<LeaderTerm, 'signal'>): void {
    this.loops = signal.aborted ? [] : loops;
    signal.addEventListener('abort', () => (this.loops = []), { once: true });
  }

  /** Returns a put with the fields that the loops derive; the put itself if one fails. */
  readonly complete = (put: PutChange): PutChange => {
    const { clock, logger } = this.options;
    try {
      return this.loops.length === 0 ? put : withDerivedFields(this.loops, put, clock.now());
    } catch (error) {
      logger.error('fields of a new resource could not be derived, the control loops write them', {
        kind: put.id.kind,
        error: errorText(error),
      });
      return put;
    }
  };
}
