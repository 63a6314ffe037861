import type { PendingIncarnation } from '@causeway/sync';
import type { KindReport } from '../session/kind-report';

/** One stream of a zone on this replica; it lives as long as its session. */
export interface LiveStream {
  readonly session: number;
  readonly direction: 'up' | 'down';
  readonly causeway: boolean;
  /** Version of the zone's control plane. */
  readonly version: string;
  /** The zone's replica that has the session; empty while it has not said. */
  zoneInstance(): string;
  /** ms since 1970. */
  readonly openedAt: number;
  /** Looks whether the operator has accepted the zone's new life. */
  checkConfirmation(): Promise<void>;
  /** A life of the zone that is not accepted, where its state comes in. */
  pendingIncarnation(): PendingIncarnation | undefined;
  reports(): readonly KindReport[];
  /** Bytes that were sent and not answered. */
  unanswered(): number;
  /** Since when the zone reads nothing though its buffers are full, ms since 1970. */
  blockedSince(): number | undefined;
  close(detail: string): void;
}

/** When and why the session of a zone that is away ended; ms since 1970. */
export type SessionEnd = { readonly since: number; readonly reason: string };

/** The streams of each zone on this replica: a newer session closes the older one's (design.md §5 Reconnect). */
export class LiveSessions {
  private readonly zones = new Map<string, Set<LiveStream>>();
  /** The last session of each zone and direction that was entered or replaced. */
  private readonly entered = new Map<string, number>();
  /** How the last session of each zone ended; none while it has its first stream. */
  private readonly ends = new Map<string, SessionEnd>();

  /** `changed` is told when a zone's streams came or went. */
  constructor(private readonly changed: (zone: string) => void) {}

  /** Zones that have a stream here. */
  names(): readonly string[] {
    return [...this.zones.keys()];
  }

  /** How the session ended of a zone that had one here and is away. */
  endOf(zone: string): SessionEnd | undefined {
    return this.ends.get(zone);
  }

  /** The open streams of a zone. */
  of(zone: string): readonly LiveStream[] {
    return [...(this.zones.get(zone) ?? [])];
  }

  /**
   * Adds a stream and closes those of older sessions. False when this session or a later one has had this stream
   * already: what the former stream still writes could not be told from what this one does.
   */
  add(zone: string, member: LiveStream): boolean {
    const key = keyOf(zone, member.direction);
    if (member.session <= (this.entered.get(key) ?? 0)) return false;
    this.closeOlder(zone, member.session, member.direction);
    this.entered.set(key, member.session);
    this.ends.delete(zone);
    const members = this.zones.get(zone) ?? new Set();
    this.zones.set(zone, members.add(member));
    this.changed(zone);
    return true;
  }

  /** The first stream to leave ends the session, unless a newer one has taken its place. */
  remove(zone: string, member: LiveStream, end: SessionEnd): void {
    const members = this.zones.get(zone);
    if (!members?.delete(member)) return;
    const replaced = [...members].some(({ session }) => session > member.session);
    if (!replaced && !this.ends.has(zone)) this.ends.set(zone, end);
    if (members.size === 0) this.zones.delete(zone);
    this.changed(zone);
  }

  /** Closes what belongs to sessions before `session`; a plain Kuma zone has one a direction. */
  closeOlder(zone: string, session: number, direction: 'up' | 'down' | 'both'): void {
    const directions = direction === 'both' ? (['up', 'down'] as const) : [direction];
    for (const key of directions.map((one) => keyOf(zone, one))) {
      this.entered.set(key, Math.max(this.entered.get(key) ?? 0, session - 1));
    }
    for (const member of this.of(zone)) {
      if (direction !== 'both' && member.direction !== direction) continue;
      if (member.session < session) member.close(`session ${member.session} was replaced by ${session}`);
    }
  }

  /** Closes everything of a zone. */
  closeZone(zone: string, detail: string): void {
    for (const member of this.of(zone)) member.close(detail);
  }

  closeAll(detail: string): void {
    for (const zone of this.names()) this.closeZone(zone, detail);
  }
}

function keyOf(zone: string, direction: 'up' | 'down'): string {
  return `${zone} ${direction}`;
}
