import { withTimeout } from '../abort';
import type { Clock } from '../clock';
import type { LeaderLock, LeaderWitness } from './leader-election';
import { errorText, type Logger } from '../logger';

export interface LockHealthOptions {
  readonly lock: LeaderLock;
  readonly holder: string;
  readonly leaseMs: number;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Number of lease lengths for which an answering server may refuse the lock while there is no leader. A candidate that
 * has the lock without leading loses it within one, so a server that refuses for longer is unreliable.
 */
export const REFUSED_LEASES = 3;

/**
 * Whether the lock's server answers, as a candidate sees it. The candidate also probes while another holder's lease is
 * valid: when that lease ends, a server that has been away for a lease costs no further wait (docs/design.md §3).
 */
export class LockHealth {
  /** Time at which the server stopped answering (`Clock.elapsed`); undefined while it answers. */
  private awaySince: number | undefined;
  /** First refusal since this candidate had the lock or found a leader, and the last epoch before it. */
  private refusal: { readonly epoch: number; readonly since: number } | undefined;

  constructor(private readonly options: LockHealthOptions) {}

  /** Checks whether the server answers. Never rejects. */
  async probe(): Promise<void> {
    await this.ask((lock) => lock.ping());
  }

  /** Records that there is a leader: earlier refusals of the server are forgotten. */
  recordLeader(): void {
    this.refusal = undefined;
  }

  /** Returns ms since the server first refused the lock while there was no leader; undefined while it does not. */
  refusedFor(): number | undefined {
    return this.refusal && this.options.clock.elapsed() - this.refusal.since;
  }

  /**
   * Returns the witness by which this candidate may try to lead after `epoch`, whose term is over: the lock if it has
   * it or if its server has been unavailable for a lease, the lease if the server has refused it for too long;
   * undefined means not now.
   */
  async findWitness(epoch: number): Promise<LeaderWitness | undefined> {
    const { holder, leaseMs, clock, logger } = this.options;
    const since = clock.elapsed();
    const asked = await this.ask((lock) => lock.acquire(holder, leaseMs));
    if (!asked.answered) return this.isUnavailable(asked.error) ? 'lock' : undefined;
    if (asked.answer) {
      this.refusal = undefined;
      return 'lock';
    }
    if (this.refusal?.epoch !== epoch) this.refusal = { epoch, since };
    const refused = clock.elapsed() - this.refusal.since;
    if (refused < REFUSED_LEASES * leaseMs) return undefined;
    logger.warn('the leader lock is held by a process that does not lead, continuing with the lease alone', {
      epoch,
      refused,
    });
    return 'lease';
  }

  /**
   * Whether the server has been away for a lease. A server that hung may still execute old requests when it recovers, so a
   * candidate that gives up cancels its request: otherwise it would hold the lock, and the leader of that time would be deposed.
   */
  private isUnavailable(error: unknown): boolean {
    const { lock, clock, holder, leaseMs, logger } = this.options;
    const goOn = this.awayFor() >= leaseMs;
    if (goOn) logger.warn('the leader lock is unavailable, continuing with the lease', { error: errorText(error) });
    else void withTimeout(clock, leaseMs, lock.release(holder)).catch(() => undefined);
    return goOn;
  }

  private awayFor(): number {
    return this.awaySince === undefined ? 0 : this.options.clock.elapsed() - this.awaySince;
  }

  /** Treats a server that does not answer within a third of the lease as away: a lease is too short to wait longer. */
  private async ask<T>(question: (lock: LeaderLock) => Promise<T>): Promise<ProbeResult<T>> {
    const { lock, clock, leaseMs } = this.options;
    const asked = clock.elapsed();
    try {
      const answer = await withTimeout(clock, leaseMs / 3, question(lock));
      this.awaySince = undefined;
      return { answered: true, answer };
    } catch (error) {
      this.awaySince ??= asked;
      return { answered: false, error };
    }
  }
}

type ProbeResult<T> =
  { readonly answered: true; readonly answer: T } | { readonly answered: false; readonly error: unknown };
