import { durationMs, isJsonObject, ownField, type JsonObject, type Resource } from '@causeway/resources';

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
export function lostSince(rule: Pick<LostRule, 'after'>, contact: ZoneContact, now: number): number | undefined {
  const { connected, lastSeen, servingSince, reportedSince } = contact;
  if (connected || lastSeen === undefined) return undefined;
  const since = reportedSince ?? Math.max(lastSeen, servingSince);
  return now - since >= rule.after ? since : undefined;
}

/** The rules for a zone: its own, and those of meshes with a rule of their own that differs. */
export interface LostRules {
  readonly zone: LostRule;
  readonly meshes: ReadonlyMap<string, LostRule>;
}

/**
 * The rules for the zone with this `Zone.spec.lost`. Field by field the Zone's own value counts, then that of the mesh
 * (`meshes`: what its parameters say of lost zones), then the configured one. Linear in the meshes.
 */
export function readLostRules(lost: unknown, meshes: ReadonlyMap<string, unknown>, configured: LostRule): LostRules {
  const zone = readLostRule(lost, configured);
  const own = [...meshes].map(([mesh, given]) => [mesh, readLostRule(lost, readLostRule(given, configured))] as const);
  return {
    zone,
    meshes: new Map(own.filter(([, { policy, after }]) => policy !== zone.policy || after !== zone.after)),
  };
}

/** For whom a zone is lost: the value of `Zone.status.lost`. */
export interface ZoneLoss {
  /** RFC 3339: since when the zone has had no session. */
  readonly since: string;
  /** Absent while the zone is lost for some meshes only. */
  readonly policy?: LostPolicy;
  /** Meshes for which something else holds; `none`: the zone is not lost for the mesh. */
  readonly meshes?: Readonly<Record<string, LostPolicy | 'none'>>;
}

/** What holds for whom when a zone has had no session for `away` ms; undefined where it is lost for nobody. */
export function zoneLoss(rules: LostRules, away: number, since: string): ZoneLoss | undefined {
  const policyOf = ({ policy, after }: LostRule): LostPolicy | undefined => (away >= after ? policy : undefined);
  const policy = policyOf(rules.zone);
  const others = [...rules.meshes].filter(([, rule]) => policyOf(rule) !== policy);
  if (policy === undefined && others.length === 0) return undefined;
  const meshes = Object.fromEntries(others.map(([mesh, rule]) => [mesh, policyOf(rule) ?? 'none'] as const));
  return { since, ...(policy === undefined ? {} : { policy }), ...(others.length === 0 ? {} : { meshes }) };
}

/** A lost zone as the resources of one mesh see it. */
export interface LostState {
  readonly policy: LostPolicy;
  /** RFC 3339. */
  readonly since: string;
}

/**
 * Whether a zone is lost for the resources of `mesh`, by `Zone.status.lost`; without `mesh`, for those of meshes for which
 * nothing else holds. Undefined where it is not.
 */
export function readLostState({ status }: Pick<Resource, 'status'>, mesh?: string): LostState | undefined {
  const lost = status?.['lost'];
  if (!isJsonObject(lost)) return undefined;
  const { policy, since, meshes } = lost;
  const own = mesh !== undefined && isJsonObject(meshes) ? ownField(meshes, mesh) : undefined;
  const holds = own ?? policy;
  return isPolicy(holds) ? { policy: holds, since: typeof since === 'string' ? since : '' } : undefined;
}

/** `Zone.status.lost` as it is stored, where it says that the zone is lost for somebody. */
export function reportedLoss(zone: Pick<Resource, 'status'>): JsonObject | undefined {
  const lost = zone.status?.['lost'];
  if (!isJsonObject(lost) || (!readLostState(zone) && listMeshesWithLoss(zone).length === 0)) return undefined;
  return lost;
}

/** What `Zone.status` says of a zone's session with the global: the fields of the status. */
export interface ZoneSession {
  /** RFC 3339: since when no replica of the global has had a session with the zone; absent where one has, or none ever had. */
  readonly disconnectedSince?: string;
  /** Whose control plane the zone has; absent before its first session. */
  readonly peer?: 'causeway' | 'kuma';
}

/** What a Zone's status says of its session, as it is stored. */
export function reportedSession({ status }: Pick<Resource, 'status'>): ZoneSession {
  const { disconnectedSince: since, peer } = status ?? {};
  return {
    ...(typeof since === 'string' && { disconnectedSince: since }),
    ...((peer === 'causeway' || peer === 'kuma') && { peer }),
  };
}

/** The meshes for which `Zone.status.lost` says something else than for the others. */
export function listMeshesWithLoss({ status }: Pick<Resource, 'status'>): readonly string[] {
  const lost = status?.['lost'];
  const meshes = isJsonObject(lost) ? lost['meshes'] : undefined;
  return isJsonObject(meshes) ? Object.keys(meshes) : [];
}

/** `Zone.spec.lost` over the configured rule; a field that cannot be read has the configured value. */
export function readLostRule(lost: unknown, configured: LostRule): LostRule {
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
