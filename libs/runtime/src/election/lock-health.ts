import { within } from '../abort';
import type { Clock } from '../clock';
import type { LeaderLock } from './leader-election';
import { errorText, type Logger } from '../logger';

export interface LockHealthOptions {
  readonly lock: LeaderLock;
  readonly holder: string;
  readonly leaseMs: number;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Whether the lock's server answers, as a candidate sees it. The candidate probes also while the lease of another
 * stands: when that lease ends, a server that has been away for a lease costs no further wait (docs/design.md §3).
 */
export class LockHealth {
  /** When the server stopped answering (`Clock.elapsed`); undefined while it answers. */
  private awaySince: number | undefined;

  constructor(private readonly options: LockHealthOptions) {}

  /** Checks whether the server answers. Never rejects. */
  async probe(): Promise<void> {
    await this.ask((lock) => lock.ping());
  }

  /**
   * Whether this candidate has the lock, or its server has been away for a lease. A server that stood open and did not answer does what it
   * was asked when it goes on: so who gives up takes its question back, or it would hold the lock, and who leads by then would be deposed.
   */
  async mayTry(): Promise<boolean> {
    const { lock, clock, holder, leaseMs, logger } = this.options;
    const asked = await this.ask((lock) => lock.acquire(holder, leaseMs));
    if (asked.answered) return asked.answer;
    const goOn = this.awayFor() >= leaseMs;
    if (goOn) logger.warn('the leader lock is away, going on with the lease', { error: errorText(asked.error) });
    else void within(clock, leaseMs, lock.release(holder)).catch(() => undefined);
    return goOn;
  }

  private awayFor(): number {
    return this.awaySince === undefined ? 0 : this.options.clock.elapsed() - this.awaySince;
  }

  /** A server that says nothing for a third of the lease is away: a lease is too short to wait longer. */
  private async ask<T>(question: (lock: LeaderLock) => Promise<T>): Promise<ProbeResult<T>> {
    const { lock, clock, leaseMs } = this.options;
    const asked = clock.elapsed();
    try {
      const answer = await within(clock, leaseMs / 3, question(lock));
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
