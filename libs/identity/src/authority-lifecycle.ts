import { errorText, type Logger } from '@causeway/runtime';
import type { Fence } from '@causeway/store';
import type { ZoneAuthority } from './zone-authority';

/** Dependencies of an `AuthorityLifecycle`. */
export interface AuthorityLifecycleOptions {
  readonly authority: ZoneAuthority;
  /** The leader's right to write. */
  readonly fence: Fence;
  readonly logger: Logger;
  /** Live proxies that have not acked the trust that holds now; sorted. */
  readonly missing: () => Promise<readonly string[]>;
}

/** What a leader does for the zone's authority in one term: makes it, and takes each step of a rotation when it is due. */
export class AuthorityLifecycle {
  private trusted: readonly string[] = [];
  private lastFault = '';

  constructor(private readonly options: AuthorityLifecycleOptions) {}

  /** The certificates in PEM of all authorities that are trusted, as of the last turn; none before the first one. */
  certificates(): readonly string[] {
    return this.trusted;
  }

  /** One look: idempotent, a cost of one read where nothing is due. A fault is logged when it begins. */
  async turn(): Promise<void> {
    const { authority, fence, logger, missing } = this.options;
    try {
      let state = await authority.ensure(fence);
      if (state.step.type !== 'steady') state = await authority.advanceRotation(fence, { missing: await missing() });
      this.trusted = state.authorities.map(({ certificate }) => certificate);
      this.lastFault = '';
    } catch (error) {
      const fault = errorText(error);
      if (fault !== this.lastFault)
        logger.error('the certificate authority of workloads is left as it is', { error: fault });
      this.lastFault = fault;
    }
  }
}
