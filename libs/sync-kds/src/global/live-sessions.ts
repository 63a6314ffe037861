/** Something that lives as long as its session: a stream. */
export interface SessionMember {
  readonly session: number;
  readonly direction: 'up' | 'down';
  close(detail: string): void;
}

/** The streams of each zone on this replica: a newer session closes the older one's (design.md §5 Reconnect). */
export class LiveSessions {
  private readonly zones = new Map<string, Set<SessionMember>>();
  /** The last session of each zone and direction that was entered or replaced. */
  private readonly entered = new Map<string, number>();

  /**
   * Adds a stream and closes those of older sessions. False when this session or a later one has had this stream
   * already: what the former stream still writes could not be told from what this one does.
   */
  enter(zone: string, member: SessionMember): boolean {
    const key = keyOf(zone, member.direction);
    if (member.session <= (this.entered.get(key) ?? 0)) return false;
    this.entered.set(key, member.session);
    this.closeOlder(zone, member.session, member.direction);
    const members = this.zones.get(zone) ?? new Set();
    this.zones.set(zone, members.add(member));
    return true;
  }

  leave(zone: string, member: SessionMember): void {
    const members = this.zones.get(zone);
    members?.delete(member);
    if (members?.size === 0) this.zones.delete(zone);
  }

  /** Closes what belongs to sessions before `session`; a plain Kuma zone has one a direction. */
  closeOlder(zone: string, session: number, direction: 'up' | 'down' | 'both'): void {
    const directions = direction === 'both' ? (['up', 'down'] as const) : [direction];
    for (const key of directions.map((one) => keyOf(zone, one))) {
      this.entered.set(key, Math.max(this.entered.get(key) ?? 0, session - 1));
    }
    for (const member of [...(this.zones.get(zone) ?? [])]) {
      if (direction !== 'both' && member.direction !== direction) continue;
      if (member.session < session) member.close(`session ${member.session} was replaced by ${session}`);
    }
  }

  /** Closes everything of a zone. */
  closeZone(zone: string, detail: string): void {
    for (const member of [...(this.zones.get(zone) ?? [])]) member.close(detail);
  }

  closeAll(detail: string): void {
    for (const zone of [...this.zones.keys()]) this.closeZone(zone, detail);
  }
}

function keyOf(zone: string, direction: 'up' | 'down'): string {
  return `${zone} ${direction}`;
}
