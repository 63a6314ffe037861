import { onAbort, sharedAbortController, within } from '../abort';
import type { Timer } from '../clock';
import { errorText } from '../logger';
import type { ElectionOptions, KeptLease, LeaseKeeper } from './leader-election';

export interface ActiveTermOptions extends ElectionOptions {
  readonly epoch: number;
  readonly keeper: LeaseKeeper;
}

/**
 * The term ends after so many renewals in a row that found another holder of the lock. They last longer than a lease: a server that hung
 * may do late what a candidate asked of it long ago, and what that candidate does not renew runs out within one.
 */
const LOST_AFTER = 5;

/**
 * A term while it lasts. The keeper renews its lease, the term renews the lock each third of the lease. The signal
 * aborts when the lease is lost or may be lost: when no renewal that began within the last lease has succeeded. Reading
 * the signal checks the lease first, since no timer fires while the event loop is held.
 */
export class ActiveTerm {
  private readonly over = sharedAbortController();
  private kept: KeptLease | undefined;
  private deadline: Timer | undefined;
  private keepingLock: Promise<void> = Promise.resolve();
  private lockLost = 0;
  private forget = (): void => undefined;

  constructor(private readonly options: ActiveTermOptions) {}

  get epoch(): number {
    return this.options.epoch;
  }

  get signal(): AbortSignal {
    this.checkLease();
    return this.over.signal;
  }

  /** ms since the lease was last renewed. */
  get leaseAge(): number {
    return this.kept?.age() ?? 0;
  }

  /** Whether a thread of its own keeps the lease. */
  get leaseInWorker(): boolean {
    return this.kept?.inWorker() ?? false;
  }

  /** Starts the renewals; false when the epoch ended before the term began. The term ends with `signal` as well. */
  async begin(signal: AbortSignal): Promise<boolean> {
    const { keeper, epoch, holder, leaseMs } = this.options;
    this.forget = onAbort(signal, () => this.over.abort(new Error('told to stop')));
    this.kept = await keeper.keep({ epoch, holder, leaseMs, onLost: () => this.checkLease() });
    if (!this.kept || this.signal.aborted) {
      await this.end();
      return false;
    }
    this.keepingLock = this.keepLock();
    return true;
  }

  /** Aborts the signal and stops all renewals. */
  async end(): Promise<void> {
    this.over.abort(new Error('the work ended'));
    this.forget();
    this.deadline?.cancel();
    await Promise.all([this.keepingLock, this.kept?.end()]);
  }

  /** Ends the term where its lease is lost or expired; else checks again when the lease would expire. */
  private checkLease(): void {
    const { kept } = this;
    if (!kept || this.over.signal.aborted) return;
    const lost = kept.lost();
    if (lost !== undefined) return this.over.abort(new Error(lost));
    const remaining = this.options.leaseMs - kept.age();
    if (remaining <= 0) return this.over.abort(new Error('the lease could not be renewed'));
    this.deadline ??= this.options.clock.after(remaining, () => {
      this.deadline = undefined;
      this.checkLease();
    });
  }

  private async keepLock(): Promise<void> {
    const { clock, leaseMs, lock } = this.options;
    const { signal } = this.over;
    while (lock && !signal.aborted) {
      await clock.sleep(leaseMs / 3, signal);
      if (!signal.aborted) void this.renewLock();
    }
  }

  private async renewLock(): Promise<void> {
    const { lock, clock, holder, leaseMs, logger } = this.options;
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
