import { durationMs, isJsonObject, type Resource } from '@causeway/resources';

/** What happens to a lost zone's services in other zones (docs/design.md §5). */
export type LostPolicy = 'keep' | 'depreferred' | 'withdraw';

/** When a zone is lost and what happens then. `after` is ms. */
export interface LostRule {
  readonly policy: LostPolicy;
  readonly after: number;
}

/** The last contact of the global with a zone. Times are ms, all by one clock. */
export interface ZoneContact {
  /** Whether a replica of the global has a session with the zone now. */
  readonly connected: boolean;
  /** When the zone was last connected; undefined if it never was. */
  readonly lastSeen: number | undefined;
  /** When this leader of the global began to serve. */
  readonly servingSince: number;
  /** Since when the status of the Zone reports it as lost. */
  readonly reportedSince?: number | undefined;
}

/**
 * Since when a zone is lost by this rule, or undefined. Only time in which the global served counts; a zone that never
 * had a session is never lost. A lost zone stays lost until it is back: a new leader does not restart the wait.
 */
export function lostSince(rule: LostRule, contact: ZoneContact, now: number): number | undefined {
  const { connected, lastSeen, servingSince, reportedSince } = contact;
  if (connected || lastSeen === undefined) return undefined;
  const since = reportedSince ?? Math.max(lastSeen, servingSince);
  return now - since >= rule.after ? since : undefined;
}

/** The state of a lost zone in the status of its Zone. */
export interface LostState {
  readonly policy: LostPolicy;
  /** RFC 3339. */
  readonly since: string;
}

/** `Zone.status.lost`; undefined for a zone that is not lost. */
export function lostStateOf({ status }: Pick<Resource, 'status'>): LostState | undefined {
  const lost = status?.['lost'];
  if (!isJsonObject(lost) || !isPolicy(lost['policy'])) return undefined;
  return { policy: lost['policy'], since: typeof lost['since'] === 'string' ? lost['since'] : '' };
}

/** `Zone.spec.lost` over the configured rule; a field that cannot be read has the configured value. */
export function lostRuleOf(lost: unknown, configured: LostRule): LostRule {
  if (typeof lost !== 'object' || lost === null) return configured;
  const policy: unknown = 'policy' in lost ? lost.policy : undefined;
  const after: unknown = 'after' in lost ? lost.after : undefined;
  return {
    policy: isPolicy(policy) ? policy : configured.policy,
    after: typeof after === 'string' ? (durationMs(after) ?? configured.after) : configured.after,
  };
}

function isPolicy(value: unknown): value is LostPolicy {
  return value === 'keep' || value === 'depreferred' || value === 'withdraw';
}
