import type { Clock } from '@causeway/runtime';
import { unverifiedClaims } from './signed-token';

const DAY = 24 * 3_600_000;

/** How long it is remembered that a token was shown, ms. */
const REMEMBERED = DAY;

/** A token that is valid for less, such as that of a user for a day, is made to end: nobody is to be warned of it, ms. */
const SHORTEST = 7 * DAY;

/** Tokens that are remembered at most; then the one that was shown longest ago is forgotten. */
const MOST = 10_000;

interface Shown {
  /** ms since 1970. */
  readonly start: number;
  readonly end: number;
  readonly at: number;
}

/** The tokens of one use that this replica was shown within a day, to know which of those in use end soon. A note costs the same however many there are. */
export class ShownTokens {
  /** By id, in the order in which they were last shown. */
  private readonly shown = new Map<string, Shown>();

  constructor(private readonly clock: Pick<Clock, 'now'>) {}

  /** Takes note of a token that was verified. */
  note(token: string): void {
    const { jti: id, iat, exp } = unverifiedClaims(token) ?? {};
    if (id === undefined || iat === undefined || exp === undefined) return;
    this.shown.delete(id);
    this.shown.set(id, { start: iat * 1_000, end: exp * 1_000, at: this.clock.now() });
    const [oldest = id] = this.shown.keys();
    if (this.shown.size > MOST) this.shown.delete(oldest);
  }

  /** How many end soon: a tenth of their time is left, 7 days at most, and they were made for a week at least. Linear in those that are remembered. */
  ending(): number {
    const now = this.clock.now();
    let ending = 0;
    for (const [id, { start, end, at }] of this.shown) {
      if (end <= now || at + REMEMBERED <= now) this.shown.delete(id);
      else if (end - start >= SHORTEST && end - now < Math.min((end - start) / 10, 7 * DAY)) ending += 1;
    }
    return ending;
  }
}
