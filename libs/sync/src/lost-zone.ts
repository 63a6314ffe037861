import { durationMs, isJsonObject, ownField, type JsonObject, type Resource } from '@causeway/resources';

/** Treatment of a lost zone's services in other zones (docs/design.md §5). */
export type LostPolicy = 'keep' | 'depreferred' | 'withdraw';

/** When a zone counts as lost, and the treatment then. `after` is ms. */
export interface LostRule {
  readonly policy: LostPolicy;
  readonly after: number;
}

/** The last contact of the global with a zone. Times are ms, all by one clock. */
export interface ZoneContact {
  /** Whether a replica of the global has a session with the zone now. */
  readonly connected: boolean;
  /** Last time the zone was connected; undefined if it never was. */
  readonly lastSeen: number | undefined;
  /** Time at which this leader of the global began to serve. */
  readonly servingSince: number;
  /** Time since which the status of the Zone reports it as lost. */
  readonly reportedSince?: number | undefined;
}

/**
 * Returns since when a zone is lost by this rule, or undefined. Only time in which the global served counts; a zone
 * that never had a session is never lost. A lost zone stays lost until it returns: a new leader does not restart the
 * wait.
 */
export function findLostSince(rule: Pick<LostRule, 'after'>, contact: ZoneContact, now: number): number | undefined {
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
 * Returns the rules for the zone with this `Zone.spec.lost`. For each field the Zone's own value has precedence, then
 * that of the mesh (`meshes`: the settings of its parameters for lost zones), then the configured one. Linear in the
 * meshes.
 */
export function readLostRules(lost: unknown, meshes: ReadonlyMap<string, unknown>, configured: LostRule): LostRules {
  const zone = readLostRule(lost, configured);
  const own = [...meshes].map(([mesh, given]) => [mesh, readLostRule(lost, readLostRule(given, configured))] as const);
  return {
    zone,
    meshes: new Map(own.filter(([, { policy, after }]) => policy !== zone.policy || after !== zone.after)),
  };
}

/** Value of `Zone.status.lost`: the meshes for which a zone is lost. */
export interface ZoneLoss {
  /** RFC 3339: since when the zone has had no session. */
  readonly since: string;
  /** Absent while the zone is lost for some meshes only. */
  readonly policy?: LostPolicy;
  /** Meshes with another policy; `none`: the zone is not lost for the mesh. */
  readonly meshes?: Readonly<Record<string, LostPolicy | 'none'>>;
}

/** Returns the loss of a zone that has had no session for `away` ms, by mesh; undefined if it is lost for none. */
export function computeZoneLoss(rules: LostRules, away: number, since: string): ZoneLoss | undefined {
  const findPolicy = ({ policy, after }: LostRule): LostPolicy | undefined => (away >= after ? policy : undefined);
  const policy = findPolicy(rules.zone);
  const others = [...rules.meshes].filter(([, rule]) => findPolicy(rule) !== policy);
  if (policy === undefined && others.length === 0) return undefined;
  const meshes = Object.fromEntries(others.map(([mesh, rule]) => [mesh, findPolicy(rule) ?? 'none'] as const));
  return { since, ...(policy === undefined ? {} : { policy }), ...(others.length === 0 ? {} : { meshes }) };
}

/** The state of a lost zone for the resources of one mesh. */
export interface LostState {
  readonly policy: LostPolicy;
  /** RFC 3339. */
  readonly since: string;
}

/**
 * Returns whether a zone is lost for the resources of `mesh`, by `Zone.status.lost`; without `mesh`, for meshes without
 * an entry of their own. Undefined if it is not lost.
 */
export function readLostState({ status }: Pick<Resource, 'status'>, mesh?: string): LostState | undefined {
  const lost = status?.['lost'];
  if (!isJsonObject(lost)) return undefined;
  const { policy, since, meshes } = lost;
  const own = mesh !== undefined && isJsonObject(meshes) ? ownField(meshes, mesh) : undefined;
  const holds = own ?? policy;
  return isPolicy(holds) ? { policy: holds, since: typeof since === 'string' ? since : '' } : undefined;
}

/** Returns the stored `Zone.status.lost` if the zone is lost for at least one mesh. */
export function readReportedLoss(zone: Pick<Resource, 'status'>): JsonObject | undefined {
  const lost = zone.status?.['lost'];
  if (!isJsonObject(lost) || (!readLostState(zone) && listMeshesWithLoss(zone).length === 0)) return undefined;
  return lost;
}

/** Fields of `Zone.status` about a zone's session with the global. */
export interface ZoneSession {
  /** RFC 3339: since when no replica of the global has had a session with the zone; absent if one has, or none ever had. */
  readonly disconnectedSince?: string;
  /** Product of the zone's control plane; absent before its first session. */
  readonly peer?: 'causeway' | 'kuma';
}

/** Reads the session from the stored status of a Zone. */
export function readReportedSession({ status }: Pick<Resource, 'status'>): ZoneSession {
  const { disconnectedSince: since, peer } = status ?? {};
  return {
    ...(typeof since === 'string' && { disconnectedSince: since }),
    ...((peer === 'causeway' || peer === 'kuma') && { peer }),
  };
}

/** Returns the meshes with an entry of their own in `Zone.status.lost`. */
export function listMeshesWithLoss({ status }: Pick<Resource, 'status'>): readonly string[] {
  const lost = status?.['lost'];
  const meshes = isJsonObject(lost) ? lost['meshes'] : undefined;
  return isJsonObject(meshes) ? Object.keys(meshes) : [];
}

/** Returns the configured rule overridden by `Zone.spec.lost`; an unreadable field keeps the configured value. */
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
