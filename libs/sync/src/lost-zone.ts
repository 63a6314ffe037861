/** What happens to a lost zone's services in other zones (design.md §5). */
export type LostPolicy = 'keep' | 'depreferred' | 'withdraw';

/** When a zone counts as lost and what follows. `after` is ms. */
export interface LostRule {
  readonly policy: LostPolicy;
  readonly after: number;
}

/** What is known of a zone's sessions. Times are ms since 1970. */
export interface Sighting {
  /** Whether a replica of the global has a session with it now. */
  readonly connected: boolean;
  /** When it was last connected; undefined when it never was. */
  readonly lastSeen: number | undefined;
  /** Since when the global has been serving without a break. */
  readonly servingSince: number;
}

/**
 * Since when a zone is lost by this rule, or undefined. Only time in which the global served counts; a zone that never
 * had a session has nothing to lose.
 */
export function lostSince(
  rule: LostRule,
  { connected, lastSeen, servingSince }: Sighting,
  now: number,
): number | undefined {
  if (connected || lastSeen === undefined) return undefined;
  const since = Math.max(lastSeen, servingSince);
  return now - since >= rule.after ? since : undefined;
}

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** `Zone.spec.lost` over the configured rule; what cannot be read is the configured. */
export function lostRuleOf(lost: unknown, configured: LostRule): LostRule {
  if (typeof lost !== 'object' || lost === null) return configured;
  const policy: unknown = 'policy' in lost ? lost.policy : undefined;
  const after: unknown = 'after' in lost ? lost.after : undefined;
  return {
    policy: policy === 'keep' || policy === 'depreferred' || policy === 'withdraw' ? policy : configured.policy,
    after: typeof after === 'string' ? (duration(after) ?? configured.after) : configured.after,
  };
}

function duration(text: string): number | undefined {
  const [, number, unit = ''] = /^([0-9]+)(ms|s|m|h)$/.exec(text) ?? [];
  const factor = UNITS[unit];
  return number === undefined || factor === undefined ? undefined : Number(number) * factor;
}
