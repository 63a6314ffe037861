import { compareOrders, type Registry } from '@causeway/resources';
import type { Commit, Row, RowChange, WatchedDisk } from '../engine/watched-disk';
import type { Report } from './violation';

/** Longest time for which a message may be on its way over an open stream: it may be so much older than the mark, µs. */
const TRANSIT = 5_000_000;

/** I3 of the global: no zone makes its resources older than they can be (docs/adr/0012-the-order-that-counts.md). */
export class OrderCheck {
  constructor(
    private readonly disk: WatchedDisk,
    private readonly registry: Registry,
    private readonly report: Report,
  ) {}

  check({ changes }: Commit): void {
    for (const change of changes) {
      const { before, after } = change;
      if (after.deletedAt !== undefined || !isRanked(after, this.registry)) continue;
      if (before) this.checkHeld(change, before);
      else this.checkNew(change);
    }
  }

  private checkHeld({ key, after }: RowChange, before: Row): void {
    if (compareOrders(after.creationOrder, before.creationOrder) >= 0) return;
    this.report('I3', `global: ${key} counts as made at ${after.creationOrder}, before it at ${before.creationOrder}`);
  }

  /** The zone's whole state was held at the moment that is marked, and this resource was not in it. */
  private checkNew({ key, after }: RowChange): void {
    const { zone, kind } = after.id;
    const whole = this.disk.wholes.get(zone);
    const moment = (whole?.except.has(kind) === true ? whole.except.get(kind) : whole?.order) ?? 0;
    if (compareOrders(after.creationOrder, moment - TRANSIT) >= 0) return;
    this.report('I3', `global: ${key} counts as made at ${after.creationOrder}, and was not there at ${moment}`);
  }
}

/** Whether a copy of a zone is ranked against what others have. */
export function isRanked({ id }: Row, registry: Registry): boolean {
  return id.zone !== '' && registry.kind(id.kind)?.sync.down !== 'nothing';
}
