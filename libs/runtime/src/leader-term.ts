import type { Timer } from './clock';
import type { ElectionOptions } from './election-options';
import { errorText } from './logger';
import { within } from './within';

export interface TermParts extends ElectionOptions {
  readonly epoch: number;
}

/** How many renewals in a row may find the lock in other hands: a candidate that cannot take over lets go sooner. */
const LOST_AFTER = 2;

/**
 * One life as leader: renews lease and lock each third of the lease, and aborts its signal the moment the lease was
 * lost, or could have been: when no renewal that began within the last lease has succeeded.
 */
export class LeaderTerm {
  /** When the lease was last renewed, by `Clock.elapsed`. */
  renewedAt = 0;
  private readonly over = new AbortController();
  private deadline: Timer | undefined;
  private keeping: Promise<void> = Promise.resolve();
  private lockLost = 0;
  /** Renewals asked for, and the latest of them that was granted. */
  private asked = 0;
  private granted = 0;
  private outer: AbortSignal | undefined;
  private readonly stop = (): void => this.over.abort(new Error('told to stop'));

  constructor(private readonly parts: TermParts) {}

  get epoch(): number {
    return this.parts.epoch;
  }

  get signal(): AbortSignal {
    return this.over.signal;
  }

  /** Starts to renew; false when the epoch is over before it began. Ends with `signal` as well. */
  async begin(signal: AbortSignal): Promise<boolean> {
    this.outer = signal;
    signal.addEventListener('abort', this.stop, { once: true });
    if (signal.aborted) this.stop();
    await this.renew();
    if (this.signal.aborted || !this.deadline) {
      await this.end();
      return false;
    }
    this.keeping = this.keep();
    return true;
  }

  /** Stops renewing; the signal is aborted then. */
  async end(): Promise<void> {
    this.over.abort(new Error('the work ended'));
    this.outer?.removeEventListener('abort', this.stop);
    await this.keeping;
    this.deadline?.cancel();
  }

  /** Renewals do not wait for each other: one that hangs must not keep the next from succeeding. */
  private async keep(): Promise<void> {
    const { clock, leaseMs } = this.parts;
    while (!this.signal.aborted) {
      await clock.sleep(leaseMs / 3, this.signal);
      if (this.signal.aborted) return;
      void this.renew();
      void this.renewLock();
    }
  }

  /** The time that a renewal grants counts from its asking, by a timer: clocks may jump. */
  private async renew(): Promise<void> {
    const { lease, clock, epoch, holder, leaseMs, logger } = this.parts;
    const asked = ++this.asked;
    const next = clock.after(leaseMs, () => this.over.abort(new Error('the lease could not be renewed')));
    try {
      const ours = await within(clock, leaseMs, lease.renew(epoch, holder, leaseMs));
      if (!ours) this.over.abort(new Error('another leader has taken over'));
      if (this.signal.aborted || asked < this.granted) return next.cancel();
      this.deadline?.cancel();
      this.deadline = next;
      this.granted = asked;
      this.renewedAt = clock.elapsed();
    } catch (error) {
      next.cancel();
      if (!this.signal.aborted) logger.warn('renewing the lease failed', { epoch, error: errorText(error) });
    }
  }

  private async renewLock(): Promise<void> {
    const { lock, clock, holder, leaseMs, logger } = this.parts;
    if (!lock) return;
    try {
      const ours = await within(clock, leaseMs / 3, lock.renew(holder, leaseMs));
      this.lockLost = ours ? 0 : this.lockLost + 1;
      if (this.lockLost >= LOST_AFTER) this.over.abort(new Error('another holds the lock'));
    } catch (error) {
      logger.debug('the leader lock is away, the lease goes on', { error: errorText(error) });
    }
  }
}
