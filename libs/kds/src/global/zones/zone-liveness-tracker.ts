import type { JsonObject, Resource } from '@causeway/resources';
import type { Clock } from '@causeway/runtime';
import type { Note } from '@causeway/store';
import { lostSince, lostStateOf, reportedLoss, zoneLoss, type LostRules, type ZoneLoss } from '@causeway/sync';
import { isOnline, STALE_AFTER } from './zone-insights';

/** The last insight of a zone, and when it was first read, by `Clock.elapsed`. */
interface SeenInsight {
  readonly insight: string;
  readonly online: boolean;
  readonly at: number;
  /** Whether it was written in this term, as far as the tracker can know. */
  readonly isNew: boolean;
}

/** Since when a Zone's status reports it as lost: as the status has it, and by `Clock.elapsed`. */
interface ReportedLoss {
  readonly since: string;
  readonly at: number;
}

/**
 * What the global's leader has observed of the zones' sessions in its term. All times are by its own clock: the clocks of
 * replicas differ and jump, so the age of an insight counts from when it was first read, never by the time that it names.
 */
export class ZoneLivenessTracker {
  private readonly servingSince: number;
  private readonly seen = new Map<string, SeenInsight>();
  private readonly reported = new Map<string, ReportedLoss>();
  private looked: number | undefined;

  constructor(private readonly clock: Clock) {
    this.servingSince = clock.elapsed();
  }

  /** Reads the insights of all zones. Rejects as `read` does. */
  async refresh(read: () => Promise<readonly Pick<Note, 'key' | 'value'>[]>): Promise<void> {
    const asked = this.clock.elapsed();
    for (const { key, value } of await read()) if (value) this.see(key, value);
    this.looked = asked;
  }

  /** What `Zone.status.lost` must be, as of the last `refresh`; undefined where the zone is lost for nobody. */
  lossOf(zone: Resource, rules: LostRules): ZoneLoss | undefined {
    const { servingSince, looked = servingSince } = this;
    const seen = this.seen.get(zone.id.name);
    const former = this.reportedBefore(zone, looked - reportedAfter(zone, rules));
    // The session of an insight from before this term may be over: such an insight ends no loss.
    const counts = seen !== undefined && (seen.isNew || !former);
    const connected = counts && seen.online && looked - seen.at <= STALE_AFTER;
    const contact = { connected, lastSeen: seen?.at, servingSince, reportedSince: former?.at };
    const after = [rules.zone, ...rules.meshes.values()].map((rule) => rule.after);
    const since = lostSince({ after: Math.min(...after) }, contact, looked);
    if (since === undefined) return undefined;
    const known = since === former?.at ? former : { since: this.dateOf(since), at: since };
    this.reported.set(zone.id.name, known);
    return zoneLoss(rules, looked - since, known.since);
  }

  /** The zone was deleted: a later zone of its name was never seen. */
  forget(zone: string): void {
    this.seen.delete(zone);
    this.reported.delete(zone);
  }

  private see(zone: string, value: JsonObject): void {
    const { globalInstanceId, renewedAt, health } = value;
    const insight = JSON.stringify([globalInstanceId, renewedAt, health]);
    if (this.seen.get(zone)?.insight === insight) return;
    const [at, isNew] = [this.clock.elapsed(), this.looked !== undefined];
    this.seen.set(zone, { insight, online: isOnline(value), at, isNew });
  }

  /**
   * Since when the Zone is reported as lost. The date in the status is read once, so that no jump of the clock shortens the
   * time since; what a former leader reported began at `latest` or before, whatever the date is.
   */
  private reportedBefore(zone: Resource, latest: number): ReportedLoss | undefined {
    const since = reportedLoss(zone)?.['since'];
    const date = typeof since === 'string' ? Date.parse(since) : NaN;
    if (typeof since !== 'string' || Number.isNaN(date)) return undefined;
    const known = this.reported.get(zone.id.name);
    if (known?.since === since) return known;
    const former = { since, at: Math.min(latest, date - (this.clock.now() - this.clock.elapsed())) };
    this.reported.set(zone.id.name, former);
    return former;
  }

  private dateOf(elapsed: number): string {
    return new Date(this.clock.now() - (this.clock.elapsed() - elapsed)).toISOString();
  }
}

/** The longest wait after which a Zone is reported as lost for somebody: that much time has passed at least. */
function reportedAfter(zone: Resource, rules: LostRules): number {
  const meshes = [...rules.meshes].filter(([mesh]) => lostStateOf(zone, mesh)).map(([, { after }]) => after);
  return Math.max(lostStateOf(zone) ? rules.zone.after : 0, ...meshes);
}
