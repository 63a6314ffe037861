import { Conflict } from '@causeway/resources';
import { errorText, type Clock, type Logger } from '@causeway/runtime';
import type { Fence, ResourceStore } from '@causeway/store';
import { NO_REQUEST, toRequestEntry, RotationRequests, type RotationRequest } from './rotation-requests';
import type { AuthorityStateOfZone, ZoneAuthority } from './zone-authority';

/** Zones and proxies that have not received a new authority, as text for operators. */
export interface TrustGaps {
  /** Trust domains whose trust was not sent with it, and live proxies that have not acked it. */
  readonly missing: readonly string[];
  /** Zones that do not report their proxies: they get a margin of time instead. */
  readonly unheard: readonly string[];
}

/** Finds out who has not received a new authority yet. */
export interface TrustEvidence {
  /** Returns who has not received all of `certificates` (PEM). Throws Unavailable. */
  gaps(certificates: readonly string[]): Promise<TrustGaps>;
}

/** Lists everybody who is waited for, as text for operators. */
export function listAwaitedPeers({ missing, unheard }: TrustGaps): readonly string[] {
  return [
    ...missing,
    ...unheard.map((zone) => `zone ${zone}: says nothing of its proxies; it has some time to learn of it`),
  ];
}

/** Dependencies of an `AuthorityLifecycle`. */
export interface AuthorityLifecycleOptions {
  readonly authority: ZoneAuthority;
  readonly store: Pick<ResourceStore, 'readMetadata' | 'write'>;
  readonly evidence: TrustEvidence;
  /** Time without missing peers before a new authority is used while some zones do not report their proxies, ms. */
  readonly margin: number;
  /** The leader's right to write. */
  readonly fence: Fence;
  readonly clock: Pick<Clock, 'now'>;
  readonly logger: Logger;
}

/**
 * Manages the zone's authority for one term of the leader: creates it, executes requests, advances a rotation when due.
 */
export class AuthorityLifecycle {
  private readonly requests: RotationRequests;
  private trusted: readonly string[] = [];
  private signingCertificate: string | undefined;
  private lastFault = '';
  /** Time since which no peer is missing in this term, ms since 1970. */
  private completeSince: number | undefined;

  constructor(private readonly options: AuthorityLifecycleOptions) {
    this.requests = new RotationRequests(options.store, options.clock);
  }

  /** Certificates (PEM) of all trusted authorities, as of the last turn; empty before the first one. */
  certificates(): readonly string[] {
    return this.trusted;
  }

  /** Certificate (PEM) of the signing authority, as of the last turn. */
  get signing(): string | undefined {
    return this.signingCertificate;
  }

  /** Runs the steps that are due. Idempotent; two reads if nothing is due. A fault is logged when it begins. */
  async turn(): Promise<void> {
    const { authority, fence, logger } = this.options;
    try {
      const [ensured, request] = await Promise.all([authority.ensure(fence), this.requests.getPending()]);
      let state = ensured;
      if (request) state = await this.execute(request, state);
      if (state.step.type === 'steady') this.completeSince = undefined;
      else state = await this.advance(state);
      this.trusted = listCertificates(state);
      this.signingCertificate = state.authorities.find(({ id }) => id === state.signing)?.certificate;
      this.lastFault = '';
    } catch (error) {
      const fault = errorText(error);
      if (fault !== this.lastFault)
        logger.error('the certificate authority of workloads is left as it is', { error: fault });
      this.lastFault = fault;
    }
  }

  /** A request and its result are one write: after a crash it is executed once, or refused if its step has passed. */
  private async execute(request: RotationRequest, state: AuthorityStateOfZone): Promise<AuthorityStateOfZone> {
    const { authority, fence, clock, store, logger } = this.options;
    const { order, by, at } = request;
    try {
      switch (order.type) {
        case 'rotate': {
          const next = order.force ? toRequestEntry({ order: { type: 'force' }, by, at }) : NO_REQUEST;
          return await authority.beginRotation(fence, clock.now() + order.wait, [next]);
        }
        case 'force':
          return await authority.forceRotation(fence, listAwaitedPeers(await this.gaps(state)), [NO_REQUEST]);
        case 'abandon':
          return await authority.abandonRotation(fence, [NO_REQUEST]);
      }
    } catch (error) {
      if (!(error instanceof Conflict)) throw error;
      logger.warn('a request to the certificate authority is refused', { order: order.type, by, error: error.message });
      await store.write({ changes: [], onRefusal: 'abort', fence, metadata: [NO_REQUEST] });
      return state;
    }
  }

  private async advance(state: AuthorityStateOfZone): Promise<AuthorityStateOfZone> {
    const { authority, fence } = this.options;
    const missing = state.step.type === 'trusting' ? await this.missing(state) : [];
    return authority.advanceRotation(fence, { missing });
  }

  /**
   * Returns who is waited for. For zones that do not report their proxies, the margin runs once no other peer is
   * missing.
   */
  private async missing(state: AuthorityStateOfZone): Promise<readonly string[]> {
    const { clock, margin } = this.options;
    const gaps = await this.gaps(state);
    const now = clock.now();
    this.completeSince = gaps.missing.length > 0 ? undefined : (this.completeSince ?? now);
    const isOver = this.completeSince !== undefined && now - this.completeSince >= margin;
    return isOver ? [] : listAwaitedPeers(gaps);
  }

  private gaps(state: AuthorityStateOfZone): Promise<TrustGaps> {
    return this.options.evidence.gaps(listCertificates(state));
  }
}

/** Returns the certificates (PEM) of all authorities of a state. */
export function listCertificates({ authorities }: AuthorityStateOfZone): readonly string[] {
  return authorities.map(({ certificate }) => certificate);
}
