import { onAbort, sharedAbortController } from '../abort';
import type { Timer } from '../clock';
import type { KeptLease, LeaseKeeper } from './leader-election';
import { TermLock, type TermLockOptions } from './term-lock';

export interface ActiveTermOptions extends TermLockOptions {
  readonly keeper: LeaseKeeper;
}

/**
 * A current term. The keeper renews its lease, and the term renews the lock each third of the lease. The signal aborts
 * when the lease is or may be lost: when no renewal that began within the last lease has succeeded. Reading the signal
 * checks the lease first, since no timer fires while the event loop is blocked.
 */
export class ActiveTerm {
  private readonly over = sharedAbortController();
  private kept: KeptLease | undefined;
  private deadline: Timer | undefined;
  private keepingLock: Promise<void> = Promise.resolve();
  private forget = (): void => undefined;

  constructor(private readonly options: ActiveTermOptions) {}

  get epoch(): number {
    return this.options.epoch;
  }

  get signal(): AbortSignal {
    this.checkLease();
    return this.over.signal;
  }

  /** Time since the lease was last renewed, ms. */
  get leaseAge(): number {
    return this.kept?.age() ?? 0;
  }

  /** Whether a worker thread renews the lease. */
  get leaseInWorker(): boolean {
    return this.kept?.inWorker() ?? false;
  }

  /** Starts the renewals; false if the epoch ended before the term began. The term also ends with `signal`. */
  async begin(signal: AbortSignal): Promise<boolean> {
    const { keeper, epoch, holder, leaseMs } = this.options;
    this.forget = onAbort(signal, () => this.over.abort(new Error('asked to stop')));
    this.kept = await keeper.keep({ epoch, holder, leaseMs, onLost: () => this.checkLease() });
    if (!this.kept || this.signal.aborted) {
      await this.end();
      return false;
    }
    const lock = new TermLock(this.options, () => this.over.abort(new Error('another process holds the lock')));
    this.keepingLock = lock.keep(this.over.signal);
    return true;
  }

  /** Aborts the signal and stops all renewals. */
  async end(): Promise<void> {
    this.over.abort(new Error('the work ended'));
    this.forget();
    this.deadline?.cancel();
    await Promise.all([this.keepingLock, this.kept?.end()]);
  }

  /** Ends the term if its lease is lost or expired; otherwise checks again when the lease would expire. */
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
}
