import { Backoff } from '../backoff';
import { errorText } from '../logger';
import type { ElectionOptions } from './election-options';
import { ActiveTerm } from './active-term';
import { EventLoopLeaseKeeper } from './event-loop-lease-keeper';
import { LockHealth } from './lock-health';
import type { LeaderElection, LeaderStatus, LeaderTerm } from './leader-election';
import { within } from '../within';

/** The election of design.md §3: a lock for who tries, an epoch in the store for who leads, a lease for how long. */
export function createElection(options: ElectionOptions): LeaderElection {
  return new Election(options);
}

class Election implements LeaderElection {
  private readonly retry: Backoff;
  private readonly lockHealth: LockHealth | undefined;
  private term: ActiveTerm | undefined;
  private epoch = 0;
  private transitions = 0;

  constructor(private readonly options: ElectionOptions) {
    const { leaseMs, random, lock } = options;
    if (lock) this.lockHealth = new LockHealth({ ...options, lock });
    this.retry = new Backoff({ base: leaseMs / 10, cap: leaseMs, ...(random ? { random } : {}) });
  }

  async run(lead: (term: LeaderTerm) => Promise<void>, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const nap = new InterruptibleSleep(this.options, signal);
      try {
        await this.campaign(lead, nap, signal);
      } catch (error) {
        this.options.logger.warn('an election failed, trying again', { error: errorText(error) });
        await nap.sleep(this.retry.next());
      } finally {
        nap.end();
      }
    }
  }

  status(): LeaderStatus {
    const { epoch, transitions, term } = this;
    if (!term) return { leading: false, epoch, transitions };
    const { leaseAge, leaseInWorker } = term;
    return { leading: true, epoch, transitions, leaseAge, leaseInWorker };
  }

  /** One try: the epoch is read before the lock is asked for, so that who slept in between takes over nothing. */
  private async campaign(
    lead: (term: LeaderTerm) => Promise<void>,
    nap: InterruptibleSleep,
    signal: AbortSignal,
  ): Promise<void> {
    const { lease, clock, holder, leaseMs } = this.options;
    const seen = await within(clock, leaseMs, lease.readEpoch());
    if (seen.remaining > 0) return this.standBy(Math.min(seen.remaining, leaseMs) + 1, nap);
    if (this.lockHealth && !(await this.lockHealth.mayTry())) return nap.sleep(this.retryDelay());
    let epoch: number | undefined;
    try {
      if (!signal.aborted) epoch = await lease.takeOver(seen.epoch, holder, leaseMs);
      if (epoch !== undefined) await this.lead(epoch, lead, signal);
    } finally {
      await this.release(epoch);
    }
    if (epoch === undefined) return nap.sleep(this.retryDelay());
    await clock.sleep(this.retry.next(), signal); // a leader whose work fails at once lets others try first
  }

  /** Waits while the lease of another stands, and sees meanwhile whether the lock's server answers. */
  private async standBy(ms: number, nap: InterruptibleSleep): Promise<void> {
    const { lockHealth: lockSight } = this;
    if (!lockSight) return nap.sleep(ms);
    const { clock, leaseMs } = this.options;
    const until = clock.elapsed() + ms;
    for (let rest = ms; rest > 0 && !nap.over; rest = until - clock.elapsed()) {
      void lockSight.probe();
      await nap.sleep(Math.min(rest, leaseMs / 3));
    }
  }

  private async lead(epoch: number, lead: (term: LeaderTerm) => Promise<void>, signal: AbortSignal): Promise<void> {
    const { clock, leaseMs, keeper = new EventLoopLeaseKeeper(this.options) } = this.options;
    const term = new ActiveTerm({ ...this.options, epoch, keeper });
    const began = clock.elapsed();
    if (await term.begin(signal)) await this.serve(term, lead);
    if (clock.elapsed() - began > leaseMs) this.retry.reset();
  }

  private async serve(term: ActiveTerm, lead: (term: LeaderTerm) => Promise<void>): Promise<void> {
    const { logger, holder } = this.options;
    const { epoch } = term;
    this.epoch = epoch;
    this.transitions++;
    this.term = term;
    logger.info('leading', { epoch, holder });
    try {
      await lead(termOf(term, holder));
    } catch (error) {
      // Work that was told to stop may end so; anything else is worth a line.
      if (!term.signal.aborted) logger.warn('the work of the leader failed', { epoch, error: errorText(error) });
    } finally {
      this.term = undefined;
      await term.end();
      logger.info('no longer leading', { epoch, reason: errorText(term.signal.reason) });
    }
  }

  private async release(epoch: number | undefined): Promise<void> {
    const { lease, lock, clock, holder, leaseMs, logger } = this.options;
    const done = Promise.resolve();
    const released = [epoch === undefined ? done : lease.release(epoch, holder), lock?.release(holder) ?? done];
    try {
      await within(clock, leaseMs, Promise.all(released));
    } catch (error) {
      logger.debug('letting go of leadership failed; it runs out by itself', { error: errorText(error) });
    }
  }

  private retryDelay(): number {
    const { leaseMs, random = Math.random } = this.options;
    return (leaseMs / 10) * (0.5 + random());
  }
}

/** The term as its work sees it: each look at the signal is a look at the lease. */
function termOf(term: ActiveTerm, holder: string): LeaderTerm {
  return {
    epoch: term.epoch,
    holder,
    get signal() {
      return term.signal;
    },
  };
}

/** A sleep that a release of the lease ends, also one that came before it. */
class InterruptibleSleep {
  private readonly woken = new AbortController();
  private readonly wake = (): void => this.woken.abort();
  private readonly unsubscribe: () => void;

  constructor(
    private readonly options: ElectionOptions,
    private readonly signal: AbortSignal,
  ) {
    this.unsubscribe = options.lease.onRelease(this.wake);
    signal.addEventListener('abort', this.wake, { once: true });
    if (signal.aborted) this.wake();
  }

  get over(): boolean {
    return this.woken.signal.aborted;
  }

  sleep(ms: number): Promise<void> {
    return this.options.clock.sleep(ms, this.woken.signal);
  }

  end(): void {
    this.unsubscribe();
    this.signal.removeEventListener('abort', this.wake);
  }
}
