import type { PeerState } from '../session/peer-state';
import type { Direction, SessionHalf } from '../session/session';

/** One open stream of a zone on this replica. */
export interface LiveStream {
  readonly session: number;
  readonly direction: Direction;
  readonly causeway: boolean;
  /** Version of the zone's control plane. */
  readonly version: string;
  /** The zone's replica that has the session; empty until a Kuma zone has sent it. */
  zoneInstance(): string;
  /** ms since 1970. */
  readonly openedAt: number;
  readonly half: SessionHalf;
  /** Stored state of the zone as a peer, on a stream that receives its resources. */
  readonly peerState?: PeerState;
  /** See InboundHalf; only on a stream that receives the zone's state. */
  incomplete?(): readonly string[] | undefined;
  /** Ends the stream. */
  close(detail: string): void;
}

/** When (ms since 1970) and why the last session of a zone ended. */
export type SessionEnd = { readonly since: number; readonly reason: string };

/** The open streams of each zone on this replica. A newer session closes the streams of older ones (docs/design.md §5 Reconnect). */
export class LiveSessions {
  private readonly zones = new Map<string, Set<LiveStream>>();
  /** The last session that was added or replaced, by zone and direction. */
  private readonly latest = new Map<string, number>();
  /** The end of the last session of each zone; a zone with an open session has none. */
  private readonly ends = new Map<string, SessionEnd>();

  /** Calls `changed` when a stream of a zone is added or removed. */
  constructor(private readonly changed: (zone: string) => void) {}

  /** Zones with an open stream. */
  names(): readonly string[] {
    return [...this.zones.keys()];
  }

  /** Returns how the last session of a zone ended; undefined if the zone is connected, or never had a session on this replica. */
  findEnd(zone: string): SessionEnd | undefined {
    return this.ends.get(zone);
  }

  /** The open streams of a zone. */
  of(zone: string): readonly LiveStream[] {
    return [...(this.zones.get(zone) ?? [])];
  }

  /**
   * Adds a stream and closes those of older sessions. Returns false if this session or a later one already had a stream
   * of this direction: the store could not distinguish the writes of the two streams.
   */
  add(zone: string, member: LiveStream): boolean {
    const key = formatKey(zone, member.direction);
    if (member.session <= (this.latest.get(key) ?? 0)) return false;
    this.closeOlder(zone, member.session, member.direction);
    this.latest.set(key, member.session);
    this.ends.delete(zone);
    const members = this.zones.get(zone) ?? new Set();
    this.zones.set(zone, members.add(member));
    this.changed(zone);
    return true;
  }

  /** Removes a stream. The first removed stream ends the session, unless a newer session has replaced it. */
  remove(zone: string, member: LiveStream, end: SessionEnd): void {
    const members = this.zones.get(zone);
    if (!members?.delete(member)) return;
    const replaced = [...members].some(({ session }) => session > member.session);
    if (!replaced && !this.ends.has(zone)) this.ends.set(zone, end);
    if (members.size === 0) this.zones.delete(zone);
    this.changed(zone);
  }

  /** Closes the streams of sessions before `session`. A plain Kuma zone has one session per direction. */
  closeOlder(zone: string, session: number, direction: Direction | 'both'): void {
    const directions = direction === 'both' ? (['up', 'down'] as const) : [direction];
    for (const key of directions.map((one) => formatKey(zone, one))) {
      this.latest.set(key, Math.max(this.latest.get(key) ?? 0, session - 1));
    }
    for (const member of this.of(zone)) {
      if (direction !== 'both' && member.direction !== direction) continue;
      if (member.session < session) member.close(`session ${member.session} was replaced by ${session}`);
    }
  }

  /** Closes all streams of a zone. */
  closeZone(zone: string, detail: string): void {
    for (const member of this.of(zone)) member.close(detail);
  }

  closeAll(detail: string): void {
    for (const zone of this.names()) this.closeZone(zone, detail);
  }
}

function formatKey(zone: string, direction: Direction): string {
  return `${zone} ${direction}`;
}
