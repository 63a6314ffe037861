import { isJsonArray, isJsonObject, type JsonObject, type Resource } from '@causeway/resources';
import { errorText } from '@causeway/runtime';
import { Fenced, type Note, type SessionRecord } from '@causeway/store';
import {
  pendingIncarnationDocument,
  reportDocument,
  healthOf,
  type Health,
  type KindReport,
} from '../../session/kind-report';
import type { DoubtfulClaims, RefusedStores, StreamEndings } from './zone-incidents';
import type { LiveSessions, LiveStream } from '../live-sessions';
import { DEFAULT_ABSENCE_HOLD, type GlobalSyncOptions } from '../global-sync-options';

/** Where insights of zones stand beside the log, by zone. */
export const INSIGHT_AREA = 'zone-insight';

/** An insight that no replica has renewed for so long is of a replica that is gone, ms. */
export const STALE_AFTER = 35_000;

/** Whether an insight speaks of a session that was open when it was written. */
export function isOnline(insight: JsonObject): boolean {
  return insight['health'] !== 'Offline';
}

function isLive(insight: JsonObject, now: number): boolean {
  return isOnline(insight) && now - Number(insight['renewedAt'] ?? 0) <= STALE_AFTER;
}

/** Whether an insight is of a session that stands. */
function speaksOf(insight: JsonObject, standing: SessionRecord | undefined): boolean {
  const { sessions } = insight;
  if (!isJsonArray(sessions) || !standing) return true;
  return sessions.filter(isJsonObject).some(({ session }) => session === standing.up || session === standing.down);
}

/** What is known of a zone's session beside the log: written by the replica that has it, readable on all. */
export class ZoneInsights {
  private readonly written = new Map<string, string>();
  private readonly peers = new Map<string, JsonObject>();
  /** Zones whose insight is to be written, and the write under way. */
  private readonly due = new Set<string>();
  private writing: Promise<void> | undefined;
  /** The last session of each zone that had a stream here. */
  private readonly sessions = new Map<string, number>();

  constructor(
    private readonly options: GlobalSyncOptions,
    private readonly live: LiveSessions,
    private readonly asides: {
      readonly refused: RefusedStores;
      readonly doubts: DoubtfulClaims;
      readonly ends: StreamEndings;
    },
  ) {}

  /** The insight of a Zone; undefined for other kinds and for zones that never had a session. */
  async of(zone: Resource): Promise<JsonObject | undefined> {
    if (zone.id.kind !== 'Zone') return undefined;
    const { name } = zone.id;
    const { refused, doubts } = this.asides;
    const [last, store, doubtful] = await Promise.all([this.lastOf(name), refused.of(name), doubts.of(name)]);
    if (!store && !doubtful) return last;
    const insight = last ?? { health: 'Offline', sessions: [], kinds: [] };
    return {
      ...insight,
      ...(store ? { refused: { ...store } } : {}),
      ...(doubtful ? { doubtful: { ...doubtful } } : {}),
    };
  }

  /** Writes the insights of these zones, in one order: what was said earlier never stands over what was said later. */
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
   * That a session has ended is written with its right: where a newer one stands, maybe on another replica, nothing is
   * said of the one before.
   */
  private async writeNow(zones: readonly string[]): Promise<void> {
    const described = zones.map((zone): Note => ({ area: INSIGHT_AREA, key: zone, value: this.describe(zone) }));
    const ended = described.filter(({ value }) => value && !isOnline(value));
    const open = described.filter((note) => !ended.includes(note));
    await Promise.all([
      open.length > 0 ? this.writeNotes(open) : undefined,
      ...ended.map((note) => this.writeNotes([note], this.sessions.get(note.key))),
    ]);
  }

  private async writeNotes(notes: readonly Note[], session?: number): Promise<void> {
    const [zone = ''] = notes.map(({ key }) => key);
    const right = session === undefined ? {} : { session: { zone, session } };
    try {
      await this.options.store.write({ changes: [], onRefusal: 'skip', notes, ...right });
    } catch (error) {
      if (error instanceof Fenced) return;
      this.options.logger.warn('insights of zones could not be written', { error: errorText(error) });
    }
  }

  /** Whether a zone's health is another than at the last call. */
  hasHealthChanged(zone: string): boolean {
    const { health } = this.judge(zone);
    const turned = this.written.get(zone) !== health;
    this.written.set(zone, health);
    return turned;
  }

  /** Who speaks for the zone, or did last on this replica. */
  private lastPeer(zone: string, member: LiveStream | undefined): JsonObject {
    if (member) this.peers.set(zone, { peer: member.causeway ? 'causeway' : 'kuma', version: member.version });
    return this.peers.get(zone) ?? {};
  }

  private async lastOf(zone: string): Promise<JsonObject | undefined> {
    if (this.live.of(zone).length > 0) return this.describe(zone);
    const { store, sessions, clock } = this.options;
    const [note, standing] = await Promise.all([store.note(INSIGHT_AREA, zone), sessions.session(zone)]);
    if (!note) return undefined;
    if (isLive(note, clock.now()) && speaksOf(note, standing)) return note;
    return isOnline(note) ? { ...note, health: 'Offline', offline: abandoned(note) } : note;
  }

  private judge(zone: string): { readonly health: Health; readonly reports: readonly KindReport[] } {
    const members = this.live.of(zone);
    const reports = members.flatMap((member) => member.reports());
    return { health: healthOf(reports, members.length, this.options.clock.now()), reports };
  }

  private describe(zone: string): JsonObject {
    const { instance, clock, hold = DEFAULT_ABSENCE_HOLD } = this.options;
    const members = this.live.of(zone);
    const { health, reports } = this.judge(zone);
    const [first] = members;
    const now = clock.now();
    const end = health === 'Offline' ? this.live.endOf(zone) : undefined;
    for (const { session } of members) this.sessions.set(zone, Math.max(session, this.sessions.get(zone) ?? 0));
    return {
      health,
      ...(end ? { offline: { ...end } } : {}),
      globalInstanceId: instance,
      renewedAt: now,
      ...this.lastPeer(zone, first),
      sessions: members.map((member) => ({
        session: member.session,
        direction: member.direction,
        openedAt: member.openedAt,
        zoneInstanceId: member.zoneInstance(),
      })),
      ...pendingIncarnationDocument(members.flatMap((member) => member.pendingIncarnation() ?? [])[0], hold),
      ...this.asides.ends.document(zone),
      kinds: reports.map((report) => reportDocument(report, now)),
      subscriptions: members
        .filter((member) => member.direction === 'down')
        .map((member) => subscription(member, instance)),
    };
  }
}

/** Of a session that was open when it was last told of, and whose replica is gone. */
function abandoned({ renewedAt, globalInstanceId }: JsonObject): JsonObject {
  const replica = typeof globalInstanceId === 'string' ? globalInstanceId : 'the replica';
  return { since: Number(renewedAt ?? 0), reason: `${replica} of the global no longer has its session` };
}

/** As Kuma says it, for its tools (rest.md §1.4). */
function subscription(member: LiveStream, globalInstanceId: string): JsonObject {
  const stat = Object.fromEntries(
    member
      .reports()
      .map(({ kind, acked = 0, rejected }) => [
        kind,
        { responsesAcknowledged: String(acked), responsesRejected: String(rejected) },
      ]),
  );
  const connectTime = new Date(member.openedAt).toISOString();
  return {
    id: `session-${member.session}`,
    globalInstanceId,
    zoneInstanceId: member.zoneInstance(),
    connectTime,
    version: { kumaCp: { version: member.version } },
    status: { stat },
  };
}
