import { Label } from '@causeway/resources';
import type { AgentLease, LeaseSurvey } from '@causeway/store';

/** The label of a Dataplane that an agent registered: which instance of an agent. It has a lease. */
export const LEASED_BY = Label.leasedBy;

/** Leases that end at once are held only where they are more than so many. */
const HELD_FROM = 3;

/** Input of the decision which leases end. */
export interface LeaseEndsView extends LeaseSurvey {
  /** How many leases were ended within the last lease length. */
  readonly recent: number;
  /** The share of all leases above which ends are held, 0 to 1. */
  readonly hold: number;
  /** Until when an operator has released expired leases, by the store's clock. */
  readonly releasedUntil?: number;
}

/** Leases that are to be ended now. */
export interface LeaseEnds {
  readonly end: LeaseSurvey['expired'];
  /** True where too many end at once: the others are kept. */
  readonly isHeld: boolean;
}

/**
 * Which expired leases end (docs/reference/leases.md, A mass end). Where more than 3 and more than the share `hold` of all leases have
 * expired or were ended within one lease length, only those that an operator has released.
 */
export function planLeaseEnds({ expired, expiredTotal, total, recent, hold, releasedUntil }: LeaseEndsView): LeaseEnds {
  const ending = expiredTotal + recent;
  const isHeld = expiredTotal > 0 && ending > HELD_FROM && ending > hold * (total + recent);
  const isReleased = ({ expiresAt }: Pick<AgentLease, 'expiresAt'>): boolean => expiresAt <= (releasedUntil ?? -1);
  return { end: isHeld ? expired.filter(isReleased) : expired, isHeld };
}
