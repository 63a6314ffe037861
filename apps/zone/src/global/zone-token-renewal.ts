import type { ZoneSync } from '@causeway/kds';
import { errorText, type Clock, type LeaderTerm, type Logger } from '@causeway/runtime';
import type { KeptZoneToken } from './kept-zone-token';
import type { TokenLife, ZoneToken } from './zone-token';

/** Part of a token's validity after which it is renewed, and the random part added: spreads the renewals of zones. */
const [RENEW_FROM, RENEW_SPREAD] = [2 / 3, 1 / 30];

/** Pause after a failure: this part of the token's validity, ms within these limits. */
const RETRY_PART = 1 / 100;
const RETRY_LIMITS = { min: 1_000, max: 3_600_000 } as const;

/** Dependencies of a `ZoneTokenRenewal`. */
export interface ZoneTokenRenewalOptions {
  readonly token: ZoneToken;
  readonly kept: KeptZoneToken;
  readonly sync: Pick<ZoneSync, 'status' | 'renewToken'>;
  readonly term: LeaderTerm;
  /** Returns whether every live replica reads the kept token; undefined while that is unknown. */
  readonly areReplicasReady: () => boolean | undefined;
  readonly clock: Pick<Clock, 'now'>;
  readonly logger: Logger;
  readonly random?: () => number;
}

/**
 * Renews the zone token on behalf of the leader at about two thirds of its life. The new token is kept in the store before it is shown: if the
 * leader dies before that, the former token is renewed again.
 */
export class ZoneTokenRenewal {
  private planned: { readonly token: string; readonly at: number } | undefined;
  private retryAt = 0;
  private isResealed = false;
  private lastReason: string | undefined;

  constructor(private readonly options: ZoneTokenRenewalOptions) {}

  /** Renews the token if that is due. Throws Unavailable, Fenced; a refusal of the global is logged. */
  async turn(): Promise<void> {
    const { token, kept, sync, term, clock } = this.options;
    if (!this.isResealed) await kept.reseal(term);
    this.isResealed = true;
    const life = token.life;
    if (!life || clock.now() < this.dueAt(life) || !sync.status().connected) return;
    if (!life.isRenewable) return this.stay('it was issued with --no-renew');
    if (sync.status().peer === 'kuma') return this.stay('a global of Kuma renews no tokens');
    if (this.options.areReplicasReady() !== true)
      return this.stay('a replica of an older version would not read the renewed one');
    try {
      await this.renew(life);
    } catch (error) {
      this.delay(life);
      this.stay(errorText(error));
    }
  }

  private async renew(life: TokenLife): Promise<void> {
    const { token, kept, sync, term, clock } = this.options;
    const renewed = await sync.renewToken(await kept.secret(term));
    if (renewed === undefined) {
      this.delay(life);
      return this.stay('the global is of an older version, which renews no tokens');
    }
    const fault = token.faultOf(renewed);
    if (fault !== undefined) throw new Error(`the global sent no token of this zone: ${fault}`);
    const received = { token: renewed, receivedAt: clock.now() };
    await kept.keep(term, received);
    this.lastReason = undefined;
    token.keep(received);
  }

  /** Returns when a token is renewed, or tried again. */
  private dueAt({ text, from, validity }: TokenLife): number {
    const { random = Math.random } = this.options;
    if (this.planned?.token !== text) {
      this.planned = { token: text, at: from + validity * (RENEW_FROM + RENEW_SPREAD * random()) };
      this.retryAt = 0;
      this.options.token.notRenewed = undefined;
    }
    return Math.max(this.planned.at, this.retryAt);
  }

  private delay({ validity }: TokenLife): void {
    const pause = Math.min(Math.max(validity * RETRY_PART, RETRY_LIMITS.min), RETRY_LIMITS.max);
    this.retryAt = this.options.clock.now() + pause;
  }

  /** Logs, once for each reason, why the token is not renewed. */
  private stay(reason: string): void {
    const { token, logger } = this.options;
    token.notRenewed = reason;
    if (reason === this.lastReason) return;
    this.lastReason = reason;
    logger.warn('the zone token is not renewed', { id: token.life?.id, reason });
  }
}
