import type { JsonObject, Resource } from '@causeway/resources';
import type { Clock } from '@causeway/runtime';
import type { MetadataEntry, SessionRecord } from '@causeway/store';
import {
  findLostSince,
  readLostState,
  readReportedLoss,
  readReportedSession,
  computeZoneLoss,
  type LostRules,
  type ZoneLoss,
  type ZoneSession,
} from '@causeway/sync';
import { isOnline, STALE_AFTER } from './zone-insights';

/** The last sign of life of a zone (its insight, else its session), and when it was first read, by `Clock.elapsed`. */
interface SeenSign {
  readonly sign: string;
  readonly online: boolean;
  /** Product of the zone's control plane; undefined before its first insight. */
  readonly peer: 'causeway' | 'kuma' | undefined;
  readonly at: number;
  /** Whether the sign was written in this term, as far as the tracker can know. */
  readonly isNew: boolean;
}

/** A zone without a session for this long is reported as disconnected, ms: a restarted control plane is back earlier. */
const DISCONNECTED_AFTER = 5_000;

/** The names of zones, sorted. */
export interface KnownZones {
  /** Causeway zones that have a session. */
  readonly connected: readonly string[];
  /** Zones of plain Kuma, connected or not. */
  readonly kuma: readonly string[];
}

/** Sessions and insights of the zones, as stored. */
export interface ZoneSigns {
  readonly insights: readonly Pick<MetadataEntry, 'key' | 'value'>[];
  readonly sessions: readonly Pick<SessionRecord, 'zone' | 'up' | 'down'>[];
}

/** When a Zone was reported as lost: by its status, and by `Clock.elapsed`. */
interface ReportedLoss {
  readonly since: string;
  readonly at: number;
}

/**
 * Observations of the zones' sessions by the global's leader in its term. All times are by its own clock: the clocks of
 * replicas differ and jump, so the age of an insight counts from when this leader first read it, not from the time in it.
 */
export class ZoneLivenessTracker {
  private readonly servingSince: number;
  private readonly seen = new Map<string, SeenSign>();
  private readonly reported = new Map<string, ReportedLoss>();
  private lastReadAt: number | undefined;

  constructor(private readonly clock: Clock) {
    this.servingSince = clock.elapsed();
  }

  /**
   * Reads the signs of all zones. A zone without any was deleted: a later zone of its name counts as never seen.
   * Rejects as `read` does.
   */
  async refresh(read: () => Promise<ZoneSigns>): Promise<void> {
    const asked = this.clock.elapsed();
    const { insights, sessions } = await read();
    const signs = new Map<string, Omit<SeenSign, 'at' | 'isNew'>>();
    // A zone may disconnect between its handshake and its first stream, and have copies from before its Zone was deleted.
    for (const { zone, up, down } of sessions)
      signs.set(zone, { sign: JSON.stringify([up, down]), online: false, peer: undefined });
    for (const { key, value } of insights) if (value) signs.set(key, readSign(value));
    for (const known of [this.seen, this.reported])
      for (const zone of known.keys()) if (!signs.has(zone)) known.delete(zone);
    for (const [zone, sign] of signs) this.see(zone, sign);
    this.lastReadAt = asked;
  }

  /** As of the last `refresh`; undefined before the first. */
  zones(): KnownZones | undefined {
    const { lastReadAt } = this;
    if (lastReadAt === undefined) return undefined;
    const ofPeer = (wanted: SeenSign['peer']): [string, SeenSign][] =>
      [...this.seen].filter(([, { peer }]) => peer === wanted);
    const live = ofPeer('causeway').filter(([, { online, at }]) => online && lastReadAt - at <= STALE_AFTER);
    const names = (zones: readonly [string, SeenSign][]): readonly string[] => zones.map(([zone]) => zone).sort();
    return { connected: names(live), kuma: names(ofPeer('kuma')) };
  }

  /** Returns the desired `Zone.status.lost`, as of the last `refresh`; undefined if the zone is lost for no mesh. */
  findLoss(zone: Resource, rules: LostRules): ZoneLoss | undefined {
    const { servingSince, lastReadAt = servingSince } = this;
    const seen = this.seen.get(zone.id.name);
    const former = this.findReportedLoss(zone, lastReadAt - findLongestWait(zone, rules));
    // The session of an insight from before this term may be over, so such an insight ends no loss.
    const counts = seen !== undefined && (seen.isNew || !former);
    const connected = counts && seen.online && lastReadAt - seen.at <= STALE_AFTER;
    const contact = { connected, lastSeen: seen?.at, servingSince, reportedSince: former?.at };
    const after = [rules.zone, ...rules.meshes.values()].map((rule) => rule.after);
    const since = findLostSince({ after: Math.min(...after) }, contact, lastReadAt);
    if (since === undefined) return undefined;
    const known = since === former?.at ? former : { since: this.formatDate(since), at: since };
    this.reported.set(zone.id.name, known);
    return computeZoneLoss(rules, lastReadAt - since, known.since);
  }

  /** Returns the desired session in `Zone.status`, as of the last `refresh`. */
  toSession(zone: Resource): ZoneSession {
    const { lastReadAt } = this;
    const seen = this.seen.get(zone.id.name);
    const former = readReportedSession(zone);
    if (seen === undefined || lastReadAt === undefined) return former;
    const since = former.disconnectedSince;
    const counts = seen.isNew || since === undefined;
    const isConnected = counts && seen.online && lastReadAt - seen.at <= STALE_AFTER;
    const isAway = !isConnected && (since !== undefined || lastReadAt - seen.at >= DISCONNECTED_AFTER);
    const peer = seen.peer ?? former.peer;
    return {
      ...(isAway && { disconnectedSince: since ?? this.formatDate(seen.at) }),
      ...(peer !== undefined && { peer }),
    };
  }

  private see(zone: string, found: Omit<SeenSign, 'at' | 'isNew'>): void {
    if (this.seen.get(zone)?.sign === found.sign) return;
    const [at, isNew] = [this.clock.elapsed(), this.lastReadAt !== undefined];
    this.seen.set(zone, { ...found, at, isNew });
  }

  /**
   * Returns since when the Zone is reported as lost. The date in the status is read once, so that no clock jump shortens
   * the elapsed time; a loss that a former leader reported began at `latest` or before, whatever the date says.
   */
  private findReportedLoss(zone: Resource, latest: number): ReportedLoss | undefined {
    const since = readReportedLoss(zone)?.['since'];
    const date = typeof since === 'string' ? Date.parse(since) : NaN;
    if (typeof since !== 'string' || Number.isNaN(date)) return undefined;
    const known = this.reported.get(zone.id.name);
    if (known?.since === since) return known;
    const former = { since, at: Math.min(latest, date - (this.clock.now() - this.clock.elapsed())) };
    this.reported.set(zone.id.name, former);
    return former;
  }

  private formatDate(elapsed: number): string {
    return new Date(this.clock.now() - (this.clock.elapsed() - elapsed)).toISOString();
  }
}

function readSign(insight: JsonObject): Omit<SeenSign, 'at' | 'isNew'> {
  const { globalInstanceId, renewedAt, health } = insight;
  return {
    sign: JSON.stringify([globalInstanceId, renewedAt, health]),
    online: isOnline(insight),
    peer: (['causeway', 'kuma'] as const).find((known) => known === insight['peer']),
  };
}

/** Returns the longest of the waits after which a Zone is reported as lost; a reported zone has been away for at least that long. */
function findLongestWait(zone: Resource, rules: LostRules): number {
  const meshes = [...rules.meshes].filter(([mesh]) => readLostState(zone, mesh)).map(([, { after }]) => after);
  return Math.max(readLostState(zone) ? rules.zone.after : 0, ...meshes);
}
