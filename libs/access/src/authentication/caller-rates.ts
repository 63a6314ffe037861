import { Unavailable } from '@causeway/resources';
import { TokenBuckets, type Clock } from '@causeway/runtime';
import type { Caller } from '../authorization/caller';

/** Thrown when the caller has sent more requests than it may; the message says when to retry. */
export class RateLimited extends Unavailable {
  constructor(
    message: string,
    /** Time until the next request is accepted, ms. */
    readonly retryAfter: number,
  ) {
    super(message);
  }
}

/** Requests a second on average; twice as many at once. 0 means no limit. */
export interface CallerRateSettings {
  /** Limit for one user. */
  readonly user: number;
  /** Limit for one address whose callers send no credentials, or credentials that are refused. */
  readonly address: number;
}

/** Burst size, as a multiple of the limit a second. */
const BURST = 2;

/**
 * Rate limits of callers, shared by all interfaces of a process: one bucket for each user, and one for each address of
 * unauthenticated callers. Users of the local socket (`CAUSEWAY_ADMIN_SOCKET`) have no limit. Memory is bounded: the
 * buckets of 10,000 users and as many addresses are kept, and an evicted one starts full.
 */
export class CallerRates {
  private readonly users: TokenBuckets | undefined;
  private readonly addresses: TokenBuckets | undefined;

  constructor({ user, address }: CallerRateSettings, clock: Pick<Clock, 'elapsed'>) {
    this.users = user > 0 ? createBuckets(user, clock) : undefined;
    this.addresses = address > 0 ? createBuckets(address, clock) : undefined;
  }

  /** Counts a request; throws RateLimited if it exceeds the limit. */
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

function createBuckets(perSecond: number, clock: Pick<Clock, 'elapsed'>): TokenBuckets {
  return new TokenBuckets({ perSecond, burst: perSecond * BURST }, clock);
}
