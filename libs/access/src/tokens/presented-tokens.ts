import type { Clock } from '@causeway/runtime';
import { unverifiedClaims } from './signed-token';

const DAY = 24 * 3_600_000;

/** How long it is remembered that a token was presented, ms. */
const REMEMBERED = DAY;

/** A token that is valid for less, such as that of a user for a day, is made to expire: nobody is to be warned of it, ms. */
const SHORTEST = 7 * DAY;

/** Tokens that are remembered at most; then the one that was presented longest ago is forgotten. */
const MAX_TOKENS = 10_000;

/** The tokens of one use that were presented to this replica within a day, to know which of those in use expire soon. */
export class PresentedTokens {
  /** By id, in the order in which they were last presented. Times are ms since 1970. */
  private readonly presented = new Map<string, { readonly start: number; readonly end: number; readonly at: number }>();

  constructor(private readonly clock: Pick<Clock, 'now'>) {}

  /** Takes note of a token that was verified. */
  note(token: string): void {
    const { jti: id, iat, exp } = unverifiedClaims(token) ?? {};
    if (id === undefined || iat === undefined || exp === undefined) return;
    this.presented.delete(id);
    this.presented.set(id, { start: iat * 1_000, end: exp * 1_000, at: this.clock.now() });
    const [oldest = id] = this.presented.keys();
    if (this.presented.size > MAX_TOKENS) this.presented.delete(oldest);
  }

  /** How many expire soon: a tenth of their time is left, 7 days at most, and they were made for a week at least. Linear in those that are remembered. */
  expiring(): number {
    const now = this.clock.now();
    let expiring = 0;
    for (const [id, { start, end, at }] of this.presented) {
      if (end <= now || at + REMEMBERED <= now) this.presented.delete(id);
      else if (end - start >= SHORTEST && end - now < Math.min((end - start) / 10, 7 * DAY)) expiring += 1;
    }
    return expiring;
  }
}
