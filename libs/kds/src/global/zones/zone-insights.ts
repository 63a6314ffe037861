import { isJsonArray, isJsonObject, type JsonObject, type Resource } from '@causeway/resources';
import { errorText } from '@causeway/runtime';
import { Fenced, type MetadataEntry, type SessionRecord } from '@causeway/store';
import {
  pendingIncarnationDocument,
  reportDocument,
  computeHealth,
  type Health,
  type KindReport,
} from '../../session/kind-report';
import type { DoubtfulClaims, RefusedStores, StreamEndings } from './zone-incidents';
import type { LiveSessions, LiveStream } from '../live-sessions';
import type { GlobalSyncOptions } from '../global-sync-options';
import { DEFAULT_ABSENCE_HOLD } from '../../session/sync-options';

/** Area of the metadata entries that hold insights; the key is the zone's name. */
export const INSIGHT_AREA = 'zone-insight';

/** An insight that was not renewed for this long belongs to a replica that is gone, ms. */
export const STALE_AFTER = 35_000;

/** Returns whether the insight's session was open when the insight was written. */
export function isOnline(insight: JsonObject): boolean {
  return insight['health'] !== 'Offline';
}

function isLive(insight: JsonObject, now: number): boolean {
  return isOnline(insight) && now - Number(insight['renewedAt'] ?? 0) <= STALE_AFTER;
}

/** Returns whether an insight belongs to the zone's current session. */
function isOfSession(insight: JsonObject, standing: SessionRecord | undefined): boolean {
  const { sessions } = insight;
  if (!isJsonArray(sessions) || !standing) return true;
  return sessions.filter(isJsonObject).some(({ session }) => session === standing.up || session === standing.down);
}

/** Insights of zones: metadata entries that the replica with the zone's session writes and every replica reads. */
export class ZoneInsights {
  private readonly written = new Map<string, string>();
  private readonly peers = new Map<string, JsonObject>();
  /** Zones whose insight must be written. */
  private readonly due = new Set<string>();
  private writing: Promise<void> | undefined;
  /** The last session of each zone that had a stream on this replica. */
  private readonly sessions = new Map<string, number>();

  constructor(
    private readonly options: GlobalSyncOptions,
    private readonly live: LiveSessions,
    private readonly incidents: {
      readonly refused: RefusedStores;
      readonly doubts: DoubtfulClaims;
      readonly endings: StreamEndings;
    },
  ) {}

  /** Returns the insight of a Zone; undefined for other kinds and for zones that never had a session. */
  async of(zone: Resource): Promise<JsonObject | undefined> {
    if (zone.id.kind !== 'Zone') return undefined;
    const { name } = zone.id;
    const { refused, doubts } = this.incidents;
    const [last, store, doubtful] = await Promise.all([this.findLastInsight(name), refused.of(name), doubts.of(name)]);
    if (!store && !doubtful) return last;
    const insight = last ?? { health: 'Offline', sessions: [], kinds: [] };
    return {
      ...insight,
      ...(store ? { refused: { ...store } } : {}),
      ...(doubtful ? { doubtful: { ...doubtful } } : {}),
    };
  }

  /** Writes the insights of these zones, one write after the other, so that a later insight is never overwritten by an earlier one. */
  write(zones: readonly string[]): Promise<void> {
    for (const zone of zones) this.due.add(zone);
    this.writing ??= this.writeDue().finally(() => (this.writing = undefined));
    return this.writing;
  }

  private async writeDue(): Promise<void> {
    while (this.due.size > 0) {
      const zones = [...this.due];
      this.due.clear();
      await this.writeNow(zones);
    }
  }

  /**
   * The end of a session is written with the session's fence: if a newer session is open, maybe on another replica,
   * nothing is written about the older one.
   */
  private async writeNow(zones: readonly string[]): Promise<void> {
    const described = zones.map((zone): MetadataEntry => ({
      area: INSIGHT_AREA,
      key: zone,
      value: this.describe(zone),
    }));
    const ended = described.filter(({ value }) => value && !isOnline(value));
    const open = described.filter((entry) => !ended.includes(entry));
    await Promise.all([
      open.length > 0 ? this.writeEntries(open) : undefined,
      ...ended.map((entry) => this.writeEntries([entry], this.sessions.get(entry.key))),
    ]);
  }

  private async writeEntries(entries: readonly MetadataEntry[], session?: number): Promise<void> {
    const [zone = ''] = entries.map(({ key }) => key);
    const right = session === undefined ? {} : { session: { zone, session } };
    try {
      await this.options.store.write({ changes: [], onRefusal: 'skip', metadata: entries, ...right });
    } catch (error) {
      if (error instanceof Fenced) return;
      this.options.logger.warn('insights of zones could not be written', { error: errorText(error) });
    }
  }

  /** Returns whether a zone's health has changed since the last call. */
  hasHealthChanged(zone: string): boolean {
    const { health } = this.evaluate(zone);
    const turned = this.written.get(zone) !== health;
    this.written.set(zone, health);
    return turned;
  }

  /** Returns product and version of the zone's peer, or of the last one on this replica. */
  private lastPeer(zone: string, stream: LiveStream | undefined): JsonObject {
    if (stream) this.peers.set(zone, { peer: stream.causeway ? 'causeway' : 'kuma', version: stream.version });
    return this.peers.get(zone) ?? {};
  }

  private async findLastInsight(zone: string): Promise<JsonObject | undefined> {
    if (this.live.of(zone).length > 0) return this.describe(zone);
    return readLastInsight(this.options, zone);
  }

  private evaluate(zone: string): { readonly health: Health; readonly reports: readonly KindReport[] } {
    const streams = this.live.of(zone);
    const reports = streams.flatMap((stream) => stream.half.reports());
    return { health: computeHealth(reports, streams.length, this.options.clock.now()), reports };
  }

  private describe(zone: string): JsonObject {
    const { instance, clock, hold = DEFAULT_ABSENCE_HOLD } = this.options;
    const streams = this.live.of(zone);
    const { health, reports } = this.evaluate(zone);
    const [first] = streams;
    const now = clock.now();
    const end = health === 'Offline' ? this.live.findEnd(zone) : undefined;
    for (const { session } of streams) this.sessions.set(zone, Math.max(session, this.sessions.get(zone) ?? 0));
    return {
      health,
      ...(end ? { offline: { ...end } } : {}),
      globalInstanceId: instance,
      renewedAt: now,
      ...this.lastPeer(zone, first),
      sessions: streams.map((stream) => ({
        session: stream.session,
        direction: stream.direction,
        openedAt: stream.openedAt,
        zoneInstanceId: stream.zoneInstance(),
      })),
      ...tokenDocument(this.options.auth.shownToken?.(zone)),
      ...pendingIncarnationDocument(streams.flatMap(({ peerState }) => peerState?.pending ?? [])[0], hold),
      ...this.incidents.endings.document(zone),
      kinds: reports.map((report) => reportDocument(report, now)),
      subscriptions: streams
        .filter((stream) => stream.direction === 'down')
        .map((stream) => toSubscription(stream, instance)),
    };
  }
}

/** Sources of stored insights. */
type StoredInsights = Pick<GlobalSyncOptions, 'store' | 'sessions' | 'clock'>;

/** Returns whether a zone has a session with any replica of this global. Throws Unavailable. */
export async function isZoneOnline(sources: StoredInsights, zone: string): Promise<boolean> {
  const insight = await readLastInsight(sources, zone);
  return insight !== undefined && isOnline(insight);
}

/** Returns the insight that the replica with the zone's session wrote last; Offline if that session is over. */
async function readLastInsight(
  { store, sessions, clock }: StoredInsights,
  zone: string,
): Promise<JsonObject | undefined> {
  const [entry, standing] = await Promise.all([store.readMetadata(INSIGHT_AREA, zone), sessions.session(zone)]);
  if (!entry) return undefined;
  if (isLive(entry, clock.now()) && isOfSession(entry, standing)) return entry;
  return isOnline(entry) ? { ...entry, health: 'Offline', offline: toAbandonedEnd(entry) } : entry;
}

/** Returns the entry of an insight about the token that a zone shows. */
function tokenDocument(
  token: { readonly id: string; readonly until: number; readonly isRenewable: boolean } | undefined,
): JsonObject {
  return token ? { token: { id: token.id, expiresAt: token.until, renewable: token.isRenewable } } : {};
}

/** Returns the end of a session that the last insight shows as open although its replica is gone. */
function toAbandonedEnd({ renewedAt, globalInstanceId }: JsonObject): JsonObject {
  const replica = typeof globalInstanceId === 'string' ? globalInstanceId : 'the replica';
  return { since: Number(renewedAt ?? 0), reason: `${replica} of the global no longer has its session` };
}

/** Returns the insight's session in Kuma's form, for its tools (docs/reference/kuma-rest.md §1.4). */
function toSubscription(stream: LiveStream, globalInstanceId: string): JsonObject {
  const stat = Object.fromEntries(
    stream.half
      .reports()
      .map(({ kind, acked = 0, rejected }) => [
        kind,
        { responsesAcknowledged: String(acked), responsesRejected: String(rejected) },
      ]),
  );
  const connectTime = new Date(stream.openedAt).toISOString();
  return {
    id: `session-${stream.session}`,
    globalInstanceId,
    zoneInstanceId: stream.zoneInstance(),
    connectTime,
    version: { kumaCp: { version: stream.version } },
    status: { stat },
  };
}
