import { Unavailable } from '@causeway/resources';
import { TokenBuckets, type Clock } from '@causeway/runtime';
import type { Caller } from '../authorization/caller';

/** The caller has sent more requests than it may; the interface says when to come back. */
export class RateLimited extends Unavailable {
  constructor(
    message: string,
    /** Until the next request is taken, ms. */
    readonly retryAfter: number,
  ) {
    super(message);
  }
}

/** Requests a second in the long run; twice as many at once. 0 is no limit. */
export interface CallerRateSettings {
  /** Of one user. */
  readonly user: number;
  /** Of one address, where callers send no credentials or such that are refused. */
  readonly address: number;
}

/** As many requests at once as a second's limit times this. */
const BURST = 2;

/**
 * Rate limits of callers, for all interfaces of a process together: a bucket a user, and one an address for who was not
 * recognised. Who uses the local socket (`CAUSEWAY_ADMIN_SOCKET`) has none. Memory is bounded: the buckets of 10,000 users
 * and as many addresses are kept, and a forgotten one starts full.
 */
export class CallerRates {
  private readonly users: TokenBuckets | undefined;
  private readonly addresses: TokenBuckets | undefined;

  constructor({ user, address }: CallerRateSettings, clock: Pick<Clock, 'elapsed'>) {
    this.users = user > 0 ? bucketsOf(user, clock) : undefined;
    this.addresses = address > 0 ? bucketsOf(address, clock) : undefined;
  }

  /** Counts a request; throws RateLimited where it is one too many. */
  take({ user, by }: Caller, address: string): void {
    if (by === 'local-socket') return;
    if (by === 'nothing') return this.takeUnrecognised(address);
    const wait = this.users?.take(`${by} ${user}`);
    if (wait !== undefined) throw new RateLimited(`user "${user}" sends more requests than it may`, wait);
  }

  /** Counts a request whose credentials are refused, so that tokens cannot be guessed fast; throws RateLimited. */
  takeUnrecognised(address: string): void {
    const wait = this.addresses?.take(address);
    if (wait !== undefined)
      throw new RateLimited('this address sends more requests without valid credentials than it may', wait);
  }
}

function bucketsOf(perSecond: number, clock: Pick<Clock, 'elapsed'>): TokenBuckets {
  return new TokenBuckets({ perSecond, burst: perSecond * BURST }, clock);
}
