import { jsonEqual } from '@causeway/resources';
import type { Commit, Row, RowChange, WatchedDisk } from '../engine/watched-disk';
import { isOrigin, sharedLabels, type History, type Origin } from './history';
import type { Report } from './violation';

/** Limits of a check of copies. */
export interface CopyLimits {
  /** Least time for which absences of a new incarnation are held, ms. */
  readonly hold: number;
  readonly report: Report;
}

/** I5 and I7 of one control plane: its copies of others' resources. */
export class CopyCheck {
  /** For each copy, the newest version of its origin's present incarnation that was stored. */
  private readonly newest = new Map<string, Origin>();

  constructor(
    private readonly disk: WatchedDisk,
    private readonly history: History,
    private readonly limits: CopyLimits,
  ) {
    for (const [key, row] of disk.rows) if (!isOrigin(disk.name, row)) this.newest.set(key, row.origin);
  }

  check({ changes }: Commit): void {
    for (const change of changes) {
      if (isOrigin(this.disk.name, change.after)) continue;
      if (change.after.deletedAt === undefined) this.checkVersion(change.key, change.after);
      else if (change.before?.deletedAt === undefined) this.checkDeletion(change);
    }
  }

  private checkVersion(key: string, copy: Row): void {
    const { revision, incarnation } = copy.origin;
    const newest = this.newest.get(key);
    if (newest?.incarnation === incarnation && newest && revision < newest.revision) {
      this.say('I7', `${key} went back from its origin's revision ${newest.revision} to ${revision}`);
    }
    this.newest.set(key, copy.origin);
    const made = this.history.version(key, copy.origin)?.row;
    const same = made && made.uid === copy.uid && made.generation === copy.generation && sameContent(made, copy);
    if (!same) this.say('I7', `${key} is not what its origin had at revision ${revision}`);
  }

  private checkDeletion({ key, before }: RowChange): void {
    if (!before) return;
    const { origin, id } = before;
    const from = id.zone === '' ? 'global' : id.zone;
    if (this.history.isGoneSince(key, from, origin)) return;
    const made = this.history.version(key, origin)?.at ?? 0;
    if (this.isWithdrawnSince(id, from, made)) return;
    // Rows that a store lost when it was set back are deleted when the hold is over.
    if ([from, 'global'].some((name) => this.history.wasRestored(name, this.limits.hold))) return;
    this.say('I5', `${key} was deleted, which its origin has at revision ${origin.revision} and did not withdraw`);
  }

  /** Whether an operator's act on the zone or the mesh, or the policy for lost zones, withdrew it since then. */
  private isWithdrawnSince(id: Row['id'], from: string, made: number): boolean {
    if (this.disk.name === 'global') return this.history.wasDeletedSince(from, made);
    if (id.mesh !== '' && this.history.wasMeshMissingSince(id.mesh, made)) return true;
    return from !== 'global' && this.history.wasClosedSince(from, made);
  }

  private say(invariant: string, detail: string): void {
    this.limits.report(invariant, `${this.disk.name}: ${detail}`);
  }
}

type Content = Pick<Row, 'labels' | 'spec'>;

/** Whether two rows have the same spec and labels, wherever they are held. */
export function sameContent(a: Content, b: Content): boolean {
  return jsonEqual(a.spec, b.spec) && jsonEqual(sharedLabels(a), sharedLabels(b));
}
