import { withTimeout } from '../abort';
import type { Clock } from '../clock';
import { errorText, type Logger } from '../logger';
import { sleepUntilTick } from '../shared-ticks';
import type { KeptLease, LeaderLease, LeaseKeeper, LeaseRequest } from './leader-election';

/** Dependencies of renewals on the event loop. */
export interface EventLoopLeaseKeeperOptions {
  readonly lease: LeaderLease;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Renews on the event loop of this process: if it is blocked for longer than the lease, the lease is lost. */
export class EventLoopLeaseKeeper implements LeaseKeeper {
  constructor(private readonly options: EventLoopLeaseKeeperOptions) {}

  /** Sends no request while `renewedElsewhere` is true: then another thread renews this lease. */
  async keep(request: LeaseRequest, renewedElsewhere: () => boolean = () => false): Promise<KeptLease | undefined> {
    const renewals = new Renewals(this.options, request, renewedElsewhere);
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
    private readonly request: LeaseRequest,
    private readonly renewedElsewhere: () => boolean,
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

  /** Renewals do not wait for each other: one that hangs must not delay the next. */
  private async keep(): Promise<void> {
    const { signal } = this.ended;
    while (!signal.aborted) {
      await sleepUntilTick(this.options.clock, this.request.leaseMs / 3, signal);
      if (!signal.aborted && !this.renewedElsewhere()) void this.renew();
    }
  }

  /** A granted renewal counts from its request, because the answer may have been delayed. */
  private async renew(): Promise<void> {
    const { lease, clock, logger } = this.options;
    const { epoch, holder, leaseMs, onLost } = this.request;
    const requestedAt = clock.elapsed();
    try {
      const granted = await withTimeout(clock, leaseMs, lease.renew(epoch, holder, leaseMs));
      if (this.ended.signal.aborted) return;
      if (granted) return void (this.grantedAt = Math.max(this.grantedAt, requestedAt));
      this.reason = 'another leader has taken over';
      onLost();
    } catch (error) {
      if (!this.ended.signal.aborted) logger.warn('renewing the lease failed', { epoch, error: errorText(error) });
    }
  }
}
