import { isJsonArray, isJsonObject, type JsonObject } from '@causeway/resources';
import type { LostRule } from '@causeway/sync';
import { readLostRule } from '@causeway/sync/testing';
import type { Timeline } from '../engine/timeline';
import type { Commit, RowChange, WatchedDisk } from '../engine/watched-disk';
import { lostOf } from './history';
import type { Report } from './violation';

/** Area of the metadata entries in which the global records its sessions with zones. */
export const INSIGHTS = 'zone-insight';

/** A replica that has a session notes it anew at least so often, ms, even where its database is slow. */
const RENEWED = 20_000;

/** Facts about the mesh that are not stored. */
export interface LostZoneLimits {
  readonly timeline: Timeline;
  /** Rule for zones whose Zone has none. */
  readonly rule: LostRule;
  /** Whether a process serves the streams of a session. */
  readonly serves: (process: string, zone: string, session: number) => boolean;
  /** Since when the leader of an epoch of the global leads. */
  readonly leadsSince: (epoch: number) => number;
  readonly report: Report;
}

/** A process has noted that it has a session with a zone. */
interface Seen {
  readonly by: string;
  readonly sessions: readonly unknown[];
  readonly at: number;
}

/** I5 for lost zones: no zone is declared lost before the time in its rule, or while its session is open. */
export class LostZoneCheck {
  private readonly seen = new Map<string, Seen[]>();

  constructor(
    private readonly disk: WatchedDisk,
    private readonly limits: LostZoneLimits,
  ) {}

  check({ changes, notes, request, writer }: Commit): void {
    for (const { note } of notes) if (note.area === INSIGHTS) this.see(note.key, note.value ?? {});
    for (const change of changes) {
      if (change.after.id.kind !== 'Zone' || change.after.deletedAt !== undefined) continue;
      const [was, is] = [change.before, change.after].map(lostOf);
      if (is && !was) this.checkTold(change, { writer, epoch: request.fence?.epoch ?? 0 });
    }
  }

  private see(zone: string, { globalInstanceId: by, health, sessions }: JsonObject): void {
    if (health === 'Offline' || typeof by !== 'string' || !isJsonArray(sessions)) return;
    const seen = {
      by,
      at: this.limits.timeline.now,
      sessions: sessions.filter(isJsonObject).map((one) => one['session']),
    };
    this.seen.set(zone, [...(this.seen.get(zone) ?? []), seen]);
  }

  /** The leader cannot know what happened since its last read. */
  private checkTold(
    { after: { id, spec } }: RowChange,
    leader: { readonly writer: string; readonly epoch: number },
  ): void {
    const { rule, leadsSince, serves, report } = this.limits;
    const { after } = readLostRule(spec['lost'], rule);
    const read = this.disk.notesRead.get(`${leader.writer} ${INSIGHTS}`) ?? 0;
    const seen = this.seen.get(id.name)?.findLast(({ at }) => at <= read);
    const gone = read - Math.max(seen?.at ?? 0, leadsSince(leader.epoch));
    if (gone < after) report('I5', `zone ${id.name} was told to be lost after ${gone} ms; its rule says ${after}`);
    const session = this.disk.sessions.get(id.name)?.up ?? 0;
    if (seen?.sessions.includes(session) && read - seen.at < RENEWED && serves(seen.by, id.name, session)) {
      report('I5', `zone ${id.name} was told to be lost while ${seen.by} serves its session ${session}`);
    }
  }
}
