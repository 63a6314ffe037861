import { withTimeout } from '../abort';
import { errorText } from '../logger';
import { sleepUntilTick } from '../shared-ticks';
import type { ElectionOptions, LeaderWitness } from './leader-election';
import { REFUSED_LEASES } from './lock-health';

/** Number of lock renewals per lease. */
const RENEWALS = 3;

/**
 * Number of renewals in a row that must find another holder before the term ends. They last longer than a lease: a server that
 * hung may execute an old request of a candidate late, and a lock that is not renewed expires within one lease.
 */
const MAX_LOST_RENEWALS = 5;

/** Number of renewals in a row that must find the lock ours before it is the witness again: as long as it takes to stop being one. */
const MIN_HELD_RENEWALS = RENEWALS * REFUSED_LEASES;

export interface TermLockOptions extends ElectionOptions {
  readonly epoch: number;
  /** The witness when the term begins. */
  readonly witness: LeaderWitness;
  /** Called when the lock is the witness again. */
  readonly onWitness: (witness: LeaderWitness) => void;
}

/**
 * Keeps the lock during a term. While the lock counts, the term ends if another holder keeps it. While only the lease
 * counts, the lock is requested nevertheless: once this leader has held it without a break for as long as a lock may be
 * refused, it counts again.
 */
export class TermLock {
  private witness: LeaderWitness;
  /** Numbers of renewals in a row that found another holder, and that did not. */
  private lost = 0;
  private held = 0;

  /** `onLost` is called if another holder keeps the lock. */
  constructor(
    private readonly options: TermLockOptions,
    private readonly onLost: () => void,
  ) {
    this.witness = options.witness;
  }

  /** Renews each third of the lease until `signal` aborts. Renewals do not wait for each other. */
  async keep(signal: AbortSignal): Promise<void> {
    const { clock, leaseMs, lock } = this.options;
    while (!signal.aborted && (lock || this.witness === 'lease')) {
      await sleepUntilTick(clock, leaseMs / RENEWALS, signal);
      if (!signal.aborted) void this.renew(signal);
    }
  }

  private async renew(signal: AbortSignal): Promise<void> {
    const { lock, clock, holder, leaseMs, logger } = this.options;
    try {
      const ours = lock ? await withTimeout(clock, leaseMs / RENEWALS, lock.renew(holder, leaseMs)) : true;
      [this.lost, this.held] = ours ? [0, this.held + 1] : [this.lost + 1, 0];
    } catch (error) {
      this.held = 0;
      logger.debug('the leader lock is unavailable, the lease continues', { error: errorText(error) });
    }
    if (signal.aborted) return;
    if (this.witness === 'lock' && this.lost >= MAX_LOST_RENEWALS) this.onLost();
    if (this.witness === 'lease' && this.held >= MIN_HELD_RENEWALS) await this.returnToLock();
  }

  /** Failures are tried again with the next renewal. */
  private async returnToLock(): Promise<void> {
    const { lease, clock, epoch, holder, leaseMs, logger, onWitness } = this.options;
    try {
      if (!(await withTimeout(clock, leaseMs, lease.returnToLock(epoch, holder))) || this.witness === 'lock') return;
      this.witness = 'lock';
      onWitness('lock');
    } catch (error) {
      logger.warn('the leader lock could not be used for the election again, trying again', {
        epoch,
        error: errorText(error),
      });
    }
  }
}
