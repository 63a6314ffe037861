import { Label } from '@causeway/resources';
import type { AgentLease, LeaseSurvey } from '@causeway/store';

/** The label of a Dataplane that an agent registered, with the instance of the agent. Such a Dataplane has a lease. */
export const LEASED_BY = Label.leasedBy;

/** Ends are held only if more than this number of leases end at once. */
const HELD_FROM = 3;

/** Input of the decision which leases to end. */
export interface LeaseEndsView extends LeaseSurvey {
  /** The number of leases that were ended within the last lease duration. */
  readonly recent: number;
  /** The share of all leases above which ends are held, 0 to 1. */
  readonly hold: number;
  /** The end of an operator's release of expired leases, by the store's clock. */
  readonly releasedUntil?: number;
}

/** Leases to end now. */
export interface LeaseEnds {
  readonly end: LeaseSurvey['expired'];
  /** Whether too many leases expired at once: the others are kept. */
  readonly isHeld: boolean;
}

/**
 * Decides which expired leases end (docs/reference/leases.md, A mass end). If more than 3 and more than the share `hold` of all leases have expired
 * or were ended within one lease duration, only those that an operator has released.
 */
export function planLeaseEnds({ expired, expiredTotal, total, recent, hold, releasedUntil }: LeaseEndsView): LeaseEnds {
  const ending = expiredTotal + recent;
  const isHeld = expiredTotal > 0 && ending > HELD_FROM && ending > hold * (total + recent);
  const isReleased = ({ expiresAt }: Pick<AgentLease, 'expiresAt'>): boolean => expiresAt <= (releasedUntil ?? -1);
  return { end: isHeld ? expired.filter(isReleased) : expired, isHeld };
}
