import type { Clock } from '../clock';
import type { LeaderLease } from './leader-lease';
import { errorText, type Logger } from '../logger';
import { within } from '../within';

/** Whose lease is to be renewed, and for how long at a time. */
export interface LeaseRequest {
  readonly epoch: number;
  readonly holder: string;
  readonly leaseMs: number;
  /** Called when the lease is known to be lost; may come late, so whoever acts looks at `KeptLease.lost` first. */
  readonly onLost: () => void;
}

/** A lease that somebody renews each third of it. Looking costs nothing and asks nobody. */
export interface KeptLease {
  /** ms since the newest renewal that was granted began: the lease is certain while this is below its length. */
  age(): number;
  /** Why the lease is no longer ours; undefined while nothing says so. */
  lost(): string | undefined;
  /** Whether a thread of its own renews it, so that it outlives a busy event loop. */
  inWorker(): boolean;
  /** Renews no longer. It releases nothing. */
  end(): Promise<void>;
}

/** Renews the lease of a leader's term (docs/adr/0004-lease-in-a-worker.md). */
export interface LeaseKeeper {
  /** Renews once and goes on with it; undefined when the first renewal is refused or fails. */
  keep(tenure: LeaseRequest): Promise<KeptLease | undefined>;
}

/** What renewals on the event loop need. */
export interface EventLoopLeaseKeeperOptions {
  readonly lease: LeaderLease;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Renews on the event loop of this process: a loop that is held longer than the lease loses it. */
export class EventLoopLeaseKeeper implements LeaseKeeper {
  constructor(private readonly options: EventLoopLeaseKeeperOptions) {}

  /** While `spared` says yes, another renews this lease and no request is made. */
  async keep(tenure: LeaseRequest, spared: () => boolean = () => false): Promise<KeptLease | undefined> {
    const renewals = new Renewals(this.options, tenure, spared);
    return (await renewals.begin()) ? renewals : undefined;
  }
}

class Renewals implements KeptLease {
  private readonly ended = new AbortController();
  private grantedAt = -Infinity;
  private reason: string | undefined;
  private keeping: Promise<void> = Promise.resolve();

  constructor(
    private readonly options: EventLoopLeaseKeeperOptions,
    private readonly tenure: LeaseRequest,
    private readonly spared: () => boolean,
  ) {}

  age(): number {
    return this.options.clock.elapsed() - this.grantedAt;
  }

  lost(): string | undefined {
    return this.reason;
  }

  inWorker(): boolean {
    return false;
  }

  async begin(): Promise<boolean> {
    await this.renew();
    if (this.reason !== undefined || this.grantedAt === -Infinity) return false;
    this.keeping = this.keep();
    return true;
  }

  async end(): Promise<void> {
    this.ended.abort();
    await this.keeping;
  }

  /** Renewals do not wait for each other: one that hangs must not keep the next from succeeding. */
  private async keep(): Promise<void> {
    const { signal } = this.ended;
    while (!signal.aborted) {
      await this.options.clock.sleep(this.tenure.leaseMs / 3, signal);
      if (!signal.aborted && !this.spared()) void this.renew();
    }
  }

  /** The time that a renewal grants counts from its asking: the answer may have been on its way for long. */
  private async renew(): Promise<void> {
    const { lease, clock, logger } = this.options;
    const { epoch, holder, leaseMs, onLost } = this.tenure;
    const asked = clock.elapsed();
    try {
      const ours = await within(clock, leaseMs, lease.renew(epoch, holder, leaseMs));
      if (this.ended.signal.aborted) return;
      if (ours) return void (this.grantedAt = Math.max(this.grantedAt, asked));
      this.reason = 'another leader has taken over';
      onLost();
    } catch (error) {
      if (!this.ended.signal.aborted) logger.warn('renewing the lease failed', { epoch, error: errorText(error) });
    }
  }
}
