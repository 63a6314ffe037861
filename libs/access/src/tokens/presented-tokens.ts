import type { Clock } from '@causeway/runtime';
import { unverifiedClaims } from './signed-token';

const DAY = 24 * 3_600_000;

/** Time for which a presented token is remembered, ms. */
const RETENTION = DAY;

/** Minimum validity of a token whose expiry is worth a warning, ms: shorter ones, such as a user's for a day, are intended to expire. */
const MIN_VALIDITY = 7 * DAY;

/** Maximum number of remembered tokens; beyond it, the token presented longest ago is evicted. */
const MAX_TOKENS = 10_000;

/** Tokens of one use that were presented to this replica within a day, to find those in use that expire soon. */
export class PresentedTokens {
  /** By id, in the order in which they were last presented. Times are ms since 1970. */
  private readonly presented = new Map<string, { readonly start: number; readonly end: number; readonly at: number }>();

  constructor(private readonly clock: Pick<Clock, 'now'>) {}

  /** Records a token that was verified. */
  record(token: string): void {
    const { jti: id, iat, exp } = unverifiedClaims(token) ?? {};
    if (id === undefined || iat === undefined || exp === undefined) return;
    this.presented.delete(id);
    this.presented.set(id, { start: iat * 1_000, end: exp * 1_000, at: this.clock.now() });
    const [oldest = id] = this.presented.keys();
    if (this.presented.size > MAX_TOKENS) this.presented.delete(oldest);
  }

  /**
   * Returns how many expire soon: a tenth of their validity is left, at most 7 days, and they were issued for at least
   * a week. Linear in the remembered tokens.
   */
  expiring(): number {
    const now = this.clock.now();
    let expiring = 0;
    for (const [id, { start, end, at }] of this.presented) {
      if (end <= now || at + RETENTION <= now) this.presented.delete(id);
      else if (end - start >= MIN_VALIDITY && end - now < Math.min((end - start) / 10, 7 * DAY)) expiring += 1;
    }
    return expiring;
  }
}
