import type { JsonObject, Resource } from '@causeway/resources';
import type { Clock } from '@causeway/runtime';
import type { Note } from '@causeway/store';
import { lostSince, lostStateOf, type LostRule, type LostState } from '@causeway/sync';
import { isOnline, STALE_AFTER } from './zone-insights';

/** What the last insight of a zone says, and when that was first read, by `Clock.elapsed`. */
interface SeenInsight {
  readonly insight: string;
  readonly online: boolean;
  readonly at: number;
  /** Whether it was written in this term, as far as can be told. */
  readonly isNew: boolean;
}

/** Since when a Zone is told to be lost: as it says it, and by `Clock.elapsed`. */
interface ReportedLoss {
  readonly since: string;
  readonly at: number;
}

/**
 * What the global's leader has seen in its term of the zones' sessions. All time is its own: the clocks of replicas
 * differ and jump, so an insight counts from when it was first read here, never by the time that it names.
 */
export class ZoneLivenessTracker {
  private readonly servingSince: number;
  private readonly seen = new Map<string, SeenInsight>();
  private readonly reported = new Map<string, ReportedLoss>();
  private looked: number | undefined;

  constructor(private readonly clock: Clock) {
    this.servingSince = clock.elapsed();
  }

  /** Reads how things stand. */
  async refresh(read: () => Promise<readonly Pick<Note, 'key' | 'value'>[]>): Promise<void> {
    const asked = this.clock.elapsed();
    for (const { key, value } of await read()) if (value) this.see(key, value);
    this.looked = asked;
  }

  /** What a Zone must say of its being lost, as of the last look. */
  lostState(zone: Resource, rule: LostRule): LostState | undefined {
    const { servingSince, looked = servingSince } = this;
    const seen = this.seen.get(zone.id.name);
    const told = this.reportedBefore(zone, looked - rule.after);
    // What stood there before this term may be long over: it brings no zone back that is told to be lost.
    const counts = seen !== undefined && (seen.isNew || !told);
    const connected = counts && seen.online && looked - seen.at <= STALE_AFTER;
    const sighting = { connected, lastSeen: seen?.at, servingSince, reportedSince: told?.at };
    const since = lostSince(rule, sighting, looked);
    if (since === undefined) return undefined;
    const known = since === told?.at ? told : { since: this.dateOf(since), at: since };
    this.reported.set(zone.id.name, known);
    return { policy: rule.policy, since: known.since };
  }

  /** The zone was deleted: one that comes under its name was never seen. */
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
   * Since when the Zone is told to be lost. Its date is read once, so that no jump of the clock makes that shorter; what
   * a leader before this one told was so at `latest`, whatever the date says.
   */
  private reportedBefore(zone: Resource, latest: number): ReportedLoss | undefined {
    const since = lostStateOf(zone)?.since;
    const date = Date.parse(since ?? '');
    if (since === undefined || Number.isNaN(date)) return undefined;
    const known = this.reported.get(zone.id.name);
    if (known?.since === since) return known;
    const told = { since, at: Math.min(latest, date - (this.clock.now() - this.clock.elapsed())) };
    this.reported.set(zone.id.name, told);
    return told;
  }

  private dateOf(elapsed: number): string {
    return new Date(this.clock.now() - (this.clock.elapsed() - elapsed)).toISOString();
  }
}
