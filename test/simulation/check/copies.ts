import { jsonEqual } from '@causeway/resources';
import type { Commit, Row, RowChange, WatchedDisk } from '../engine/watched-disk';
import { isOrigin, sharedLabels, type History } from './history';
import type { Report } from './violation';

/** I5 and I7 of one control plane: what it holds of others. */
export class CopyCheck {
  /** The newest version of each that was ever held. */
  private readonly newest = new Map<string, number>();

  constructor(
    private readonly disk: WatchedDisk,
    private readonly history: History,
    private readonly report: Report,
  ) {}

  check({ changes }: Commit): void {
    for (const change of changes) {
      if (isOrigin(this.disk.name, change.after)) continue;
      if (change.after.deletedAt === undefined) this.checkVersion(change.key, change.after);
      else if (change.before?.deletedAt === undefined) this.checkDeletion(change);
    }
  }

  private checkVersion(key: string, copy: Row): void {
    const { revision } = copy.origin;
    const newest = this.newest.get(key) ?? 0;
    if (revision < newest) this.say('I7', `${key} went back from its origin's revision ${newest} to ${revision}`);
    this.newest.set(key, Math.max(newest, revision));
    const made = this.history.version(key, revision)?.row;
    const same = made && made.uid === copy.uid && made.generation === copy.generation && sameContent(made, copy);
    if (!same) this.say('I7', `${key} is not what its origin had at revision ${revision}`);
  }

  private checkDeletion({ key, before }: RowChange): void {
    if (!before) return;
    const { revision } = before.origin;
    if (this.history.isGoneSince(key, revision)) return;
    const { zone } = before.id;
    const made = this.history.version(key, revision)?.at ?? 0;
    if (this.disk.name !== 'global' && zone !== '' && this.history.wasClosedSince(zone, made)) return;
    this.say('I5', `${key} was deleted, which its origin has at revision ${revision} and did not withdraw`);
  }

  private say(invariant: string, detail: string): void {
    this.report(invariant, `${this.disk.name}: ${detail}`);
  }
}

/** Whether two rows have the same spec and labels, wherever they are held. */
export function sameContent(a: Row, b: Row): boolean {
  return jsonEqual(a.spec, b.spec) && jsonEqual(sharedLabels(a), sharedLabels(b));
}
