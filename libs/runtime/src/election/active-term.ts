import type { Timer } from '../clock';
import type { ElectionOptions } from './election-options';
import type { KeptLease, LeaseKeeper } from './event-loop-lease-keeper';
import { errorText } from '../logger';
import { within } from '../within';

export interface ActiveTermOptions extends ElectionOptions {
  readonly epoch: number;
  readonly keeper: LeaseKeeper;
}

/** How many renewals in a row may find the lock in other hands: a candidate that cannot take over lets go sooner. */
const LOST_AFTER = 2;

/**
 * One life as leader: has its lease kept, renews the lock each third of it, and aborts its signal when the lease was
 * lost, or could have been: when no renewal that began within the last lease has succeeded. Whoever asks for the signal
 * has it checked against the lease first: after the event loop was held, no timer need have fired.
 */
export class ActiveTerm {
  private readonly over = new AbortController();
  private kept: KeptLease | undefined;
  private deadline: Timer | undefined;
  private keepingLock: Promise<void> = Promise.resolve();
  private lockLost = 0;
  private outer: AbortSignal | undefined;
  private readonly stop = (): void => this.over.abort(new Error('told to stop'));

  constructor(private readonly parts: ActiveTermOptions) {}

  get epoch(): number {
    return this.parts.epoch;
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

  /** Has the lease kept; false when the epoch is over before it began. Ends with `signal` as well. */
  async begin(signal: AbortSignal): Promise<boolean> {
    const { keeper, epoch, holder, leaseMs } = this.parts;
    this.outer = signal;
    signal.addEventListener('abort', this.stop, { once: true });
    if (signal.aborted) this.stop();
    this.kept = await keeper.keep({ epoch, holder, leaseMs, onLost: () => this.checkLease() });
    if (!this.kept || this.signal.aborted) {
      await this.end();
      return false;
    }
    this.keepingLock = this.keepLock();
    return true;
  }

  /** The signal is aborted then, and nothing renews the lease. */
  async end(): Promise<void> {
    this.over.abort(new Error('the work ended'));
    this.outer?.removeEventListener('abort', this.stop);
    this.deadline?.cancel();
    await Promise.all([this.keepingLock, this.kept?.end()]);
  }

  /** Ends the term where its lease is gone; else looks again when it would be, were it not renewed. */
  private checkLease(): void {
    const { kept } = this;
    if (!kept || this.over.signal.aborted) return;
    const lost = kept.lost();
    if (lost !== undefined) return this.over.abort(new Error(lost));
    const rest = this.parts.leaseMs - kept.age();
    if (rest <= 0) return this.over.abort(new Error('the lease could not be renewed'));
    this.deadline ??= this.parts.clock.after(rest, () => {
      this.deadline = undefined;
      this.checkLease();
    });
  }

  private async keepLock(): Promise<void> {
    const { clock, leaseMs, lock } = this.parts;
    const { signal } = this.over;
    while (lock && !signal.aborted) {
      await clock.sleep(leaseMs / 3, signal);
      if (!signal.aborted) void this.renewLock();
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
