import { aborted, onAbort, orAborted, withDeadline, withTimeout } from '../abort';
import { Backoff } from '../backoff';
import { errorText } from '../logger';
import { ActiveTerm } from './active-term';
import { EventLoopLeaseKeeper } from './event-loop-lease-keeper';
import type {
  ElectionOptions,
  LeaderElection,
  LeaderEpoch,
  LeaderStatus,
  LeaderTerm,
  LeaderWitness,
} from './leader-election';
import { LockHealth } from './lock-health';

/** Timeout for a leader's work to end after its term, ms: longer than any statement of the store. */
const WORK_END = 60_000;
const OVERDUE = new Error(`it did not end within ${WORK_END} ms`);

/**
 * Creates the election of docs/design.md §3: the lock decides which candidate tries, the epoch in the store which one leads, the lease for how long.
 */
export function createElection(options: ElectionOptions): LeaderElection {
  return new Election(options);
}

class Election implements LeaderElection {
  private readonly retry: Backoff;
  private readonly lockHealth: LockHealth | undefined;
  private term: ActiveTerm | undefined;
  private epoch = 0;
  private transitions = 0;
  private witness: LeaderWitness = 'lock';
  /** Time at which a read of the store first found no leader (`Clock.elapsed`). */
  private leaderlessSince: number | undefined;

  constructor(private readonly options: ElectionOptions) {
    const { leaseMs, random, lock } = options;
    if (lock) this.lockHealth = new LockHealth({ ...options, lock });
    this.retry = new Backoff({ base: leaseMs / 10, cap: leaseMs, ...(random ? { random } : {}) });
  }

  async run(lead: (term: LeaderTerm) => Promise<void>, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const pause = new InterruptibleSleep(this.options, signal);
      try {
        await this.campaign(lead, pause, signal);
      } catch (error) {
        this.options.logger.warn('an election failed, trying again', { error: errorText(error) });
        await pause.sleep(this.retry.next());
      } finally {
        pause.end();
      }
    }
  }

  status(): LeaderStatus {
    const { epoch, transitions, term, witness } = this;
    const known = { epoch, transitions, witness };
    if (!term) return { leading: false, ...known, ...this.absence() };
    const { leaseAge, leaseInWorker } = term;
    return { leading: true, ...known, leaseAge, leaseInWorker };
  }

  /**
   * Returns how long there has been no leader, as far as this process knows, and how long the lock has been refused
   * meanwhile.
   */
  private absence(): Pick<LeaderStatus, 'leaderless' | 'refused'> {
    if (this.leaderlessSince === undefined) return {};
    const leaderless = this.options.clock.elapsed() - this.leaderlessSince;
    const refused = this.lockHealth?.refusedFor();
    return { leaderless, ...(refused === undefined ? {} : { refused }) };
  }

  /** Makes one attempt. Reads the epoch before requesting the lock, so that a candidate that slept in between takes over nothing. */
  private async campaign(
    lead: (term: LeaderTerm) => Promise<void>,
    pause: InterruptibleSleep,
    signal: AbortSignal,
  ): Promise<void> {
    const { lease, clock, holder, leaseMs } = this.options;
    const seen = await withTimeout(clock, leaseMs, lease.readEpoch());
    this.observe(seen);
    if (seen.remaining > 0) return this.standBy(Math.min(seen.remaining, leaseMs) + 1, pause);
    const witness = await this.findWitness(seen);
    if (witness === undefined) return pause.sleep(this.retryDelay());
    let epoch: number | undefined;
    try {
      if (!signal.aborted)
        epoch = await lease.takeOver(seen.epoch, holder, leaseMs, { from: seen.witness, to: witness });
      if (epoch !== undefined) await this.lead({ epoch, witness }, lead, signal);
    } finally {
      await this.release(epoch);
    }
    if (epoch === undefined) return pause.sleep(this.retryDelay());
    await clock.sleep(this.retry.next(), signal); // a leader whose work fails at once lets others try first
  }

  /** Records the other results of reading the leader from the store. */
  private observe({ remaining, witness }: LeaderEpoch): void {
    this.changeWitness(witness);
    if (remaining > 0) {
      this.leaderlessSince = undefined;
      this.lockHealth?.recordLeader();
    } else this.leaderlessSince ??= this.options.clock.elapsed();
  }

  /** Returns the witness that allows this candidate to try now. While only the lease counts, the lock is not requested. */
  private async findWitness({ epoch, witness }: LeaderEpoch): Promise<LeaderWitness | undefined> {
    return this.lockHealth && witness === 'lock' ? this.lockHealth.findWitness(epoch) : witness;
  }

  private changeWitness(witness: LeaderWitness): void {
    if (witness === this.witness) return;
    this.witness = witness;
    const { logger, holder } = this.options;
    if (witness === 'lock') logger.info('the leader lock is used for the election again', { holder });
    else logger.warn('the leader lock is no longer used for the election: the lease alone decides', { holder });
  }

  /** Waits while another holder's lease is valid, and probes the lock's server meanwhile. */
  private async standBy(ms: number, pause: InterruptibleSleep): Promise<void> {
    const { lockHealth } = this;
    if (!lockHealth) return pause.sleep(ms);
    const { clock, leaseMs } = this.options;
    const until = clock.elapsed() + ms;
    for (let left = ms; left > 0 && !pause.over; left = until - clock.elapsed()) {
      void lockHealth.probe();
      await pause.sleep(Math.min(left, leaseMs / 3));
    }
  }

  private async lead(
    { epoch, witness }: Pick<LeaderEpoch, 'epoch' | 'witness'>,
    lead: (term: LeaderTerm) => Promise<void>,
    signal: AbortSignal,
  ): Promise<void> {
    const { clock, leaseMs, keeper = new EventLoopLeaseKeeper(this.options) } = this.options;
    const onWitness = (changed: LeaderWitness): void => this.changeWitness(changed);
    onWitness(witness);
    this.leaderlessSince = undefined;
    this.lockHealth?.recordLeader();
    const term = new ActiveTerm({ ...this.options, epoch, witness, onWitness, keeper });
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
      await this.waitForWork(term, lead(toLeaderTerm(term, holder)));
    } catch (error) {
      // Aborted work may reject; any other failure is logged.
      if (error === OVERDUE) logger.error('the work of the leader did not end with its term', { epoch });
      else if (!term.signal.aborted) logger.warn('the work of the leader failed', { epoch, error: errorText(error) });
    } finally {
      this.term = undefined;
      await term.end();
      logger.info('no longer leading', { epoch, reason: errorText(term.signal.reason) });
    }
  }

  /** Settles like the work, or some time after the end of the term: work that never ends must not block the election. */
  private async waitForWork(term: ActiveTerm, work: Promise<void>): Promise<void> {
    await Promise.race([work, aborted(term.signal)]);
    await withDeadline(this.options.clock, WORK_END, OVERDUE, (signal) => orAborted(work, signal));
  }

  private async release(epoch: number | undefined): Promise<void> {
    const { lease, lock, clock, holder, leaseMs, logger } = this.options;
    const done = Promise.resolve();
    const released = [epoch === undefined ? done : lease.release(epoch, holder), lock?.release(holder) ?? done];
    try {
      await withTimeout(clock, leaseMs, Promise.all(released));
    } catch (error) {
      logger.debug('releasing leadership failed; it expires by itself', { error: errorText(error) });
    }
  }

  private retryDelay(): number {
    const { leaseMs, random = Math.random } = this.options;
    return (leaseMs / 10) * (0.5 + random());
  }
}

/** Returns the term passed to its work: reading the signal checks the lease. */
function toLeaderTerm(term: ActiveTerm, holder: string): LeaderTerm {
  return {
    epoch: term.epoch,
    holder,
    get signal() {
      return term.signal;
    },
  };
}

/** A sleep that ends when a lease is released, even if the release came before the sleep. */
class InterruptibleSleep {
  private readonly woken = new AbortController();
  private readonly subscriptions: readonly (() => void)[];

  constructor(
    private readonly options: ElectionOptions,
    signal: AbortSignal,
  ) {
    const wake = (): void => this.woken.abort();
    this.subscriptions = [options.lease.onRelease(wake), onAbort(signal, wake)];
  }

  get over(): boolean {
    return this.woken.signal.aborted;
  }

  sleep(ms: number): Promise<void> {
    return this.options.clock.sleep(ms, this.woken.signal);
  }

  end(): void {
    for (const unsubscribe of this.subscriptions) unsubscribe();
  }
}
