import { DomainError, Unavailable } from '@causeway/resources';
import { yieldToEventLoop, type Clock, type Timer } from '@causeway/runtime';
import type { Authenticator } from './authenticator';
import { Unauthenticated } from '../unauthenticated';
import type { AccessPolicy } from '../authorization/access-policy';
import type { Caller } from '../authorization/caller';
import { CallerRights } from '../authorization/caller-rights';
import { subjectKeys } from '../authorization/compiled-policy';
import type { AccessTarget, Verb } from '../authorization/grants';

/**
 * Interval at which the caller of an open response is authenticated again, ms: it catches tokens that expire or issuers
 * that change without an event.
 */
const REVIEW_INTERVAL = 60_000;

/** Reviews that begin in one turn of the event loop: each verifies a signature. */
const REVIEW_BATCH = 100;

/** A response that stays open: its caller, and how the caller is authenticated again. */
export interface StreamedResponse {
  readonly rights: CallerRights;
  /** Authenticates the caller again with the same credentials. Rejects when they are no longer valid. */
  readonly authenticate: () => Promise<Caller>;
  /** Called at most once, with the reason, when the caller may no longer receive the response. */
  readonly end: (reason: DomainError) => void;
}

/** Sources of changes that an AccessMonitor watches. */
export interface AccessMonitorParts {
  readonly authenticator: Pick<Authenticator, 'onChange'>;
  readonly policy: AccessPolicy;
  readonly clock: Clock;
}

/**
 * Ends open responses (watches, long streams) when their caller loses access: its token is revoked or expires, its
 * issuer or key is no longer trusted, or a binding changes. A change of trust reviews every response, a change of
 * bindings those of the affected callers; reviews of many responses yield to other work.
 */
export class AccessMonitor {
  private readonly open = new Set<MonitoredResponse>();
  private readonly stale = new Set<MonitoredResponse>();
  private readonly stops: readonly (() => void)[];
  private reviewing = false;

  constructor(private readonly parts: AccessMonitorParts) {
    const { authenticator, policy } = parts;
    this.stops = [
      authenticator.onChange(() => this.review(() => true)),
      policy.onSubjectsChanged((subjects) => this.review((answer) => !subjects || answer.isOneOf(subjects))),
    ];
  }

  /**
   * Monitors a response until it is closed. The caller is authenticated at once too, so that a change since the request
   * arrived is not missed.
   */
  watch(answer: StreamedResponse): MonitoredResponse {
    const monitored = new MonitoredResponse(answer, this.parts, () => {
      this.open.delete(monitored);
      this.stale.delete(monitored);
    });
    this.open.add(monitored);
    void monitored.review();
    return monitored;
  }

  close(): void {
    for (const stop of this.stops) stop();
    for (const answer of this.open) answer.close();
  }

  private review(isAffected: (answer: MonitoredResponse) => boolean): void {
    for (const answer of this.open) if (isAffected(answer)) this.stale.add(answer);
    if (!this.reviewing) void this.reviewStale();
  }

  /** Changes that arrive during a review add to `stale`: a response is queued once, however many changes there are. */
  private async reviewStale(): Promise<void> {
    this.reviewing = true;
    let begun = 0;
    for (const answer of this.stale) {
      this.stale.delete(answer);
      // Not awaited: fetching the keys of one issuer may take long.
      void answer.review();
      begun += 1;
      if (begun % REVIEW_BATCH === 0) await yieldToEventLoop();
    }
    this.reviewing = false;
  }
}

/** A response that an AccessMonitor monitors. */
export class MonitoredResponse {
  private readonly needed: { readonly verb: Verb; readonly target: AccessTarget }[] = [];
  private timer: Timer | undefined;
  private closed = false;

  constructor(
    private readonly answer: StreamedResponse,
    private readonly parts: Pick<AccessMonitorParts, 'policy' | 'clock'>,
    private readonly onClose: () => void,
  ) {}

  /** Throws AccessDenied without this right, and ends the response when the right is lost later. */
  needs(verb: Verb, target: AccessTarget): void {
    this.answer.rights.check(verb, target);
    this.needed.push({ verb, target });
  }

  /** Whether the caller is one of these subjects. */
  isOneOf(subjects: ReadonlySet<string>): boolean {
    return subjectKeys(this.answer.rights.caller).some((key) => subjects.has(key));
  }

  /** Ends the response unless its caller may still receive it. */
  async review(): Promise<void> {
    try {
      const caller = await this.answer.authenticate();
      const { policy, clock } = this.parts;
      const left = (caller.until ?? Infinity) - clock.now();
      if (left <= 0) throw new Unauthenticated('the token of this caller has expired');
      const rights = new CallerRights(policy, caller);
      for (const { verb, target } of this.needed) rights.check(verb, target);
      this.reviewIn(caller, left);
    } catch (error) {
      if (this.closed) return;
      this.close();
      const unexpected = new Unavailable('the caller cannot be authenticated again', { cause: error });
      this.answer.end(error instanceof DomainError ? error : unexpected);
    }
  }

  /** Stops reviewing and ending responses. Idempotent. */
  close(): void {
    this.closed = true;
    this.timer?.cancel();
    this.onClose();
  }

  /** Without a token, no response ends by time. */
  private reviewIn({ by }: Caller, left: number): void {
    this.timer?.cancel();
    if (this.closed || (by !== 'user-token' && by !== 'oidc')) return;
    this.timer = this.parts.clock.after(Math.min(left, REVIEW_INTERVAL), () => void this.review());
  }
}
