import { Label } from '@causeway/resources';
import { SYNC_LABEL } from '../mesh/user-writes';
import type { Timeline } from '../engine/timeline';
import type { Commit, Row } from '../engine/watched-disk';

/** A version of a resource at its origin. */
export interface Version {
  readonly row: Row;
  /** Simulated time of its commit. */
  readonly at: number;
}

/** What was made where, and when: the truth that copies are held against. */
export class History {
  private readonly versions = new Map<string, Map<number, Version>>();
  /** The newest revision of its origin at which a resource was deleted or kept out of sync. */
  private readonly gone = new Map<string, number>();
  /** Zones whose services other zones may not know, and until when others may not have. */
  private readonly closed = new Map<string, number>();

  constructor(private readonly timeline: Timeline) {}

  /** Takes in what was made on the control plane of a disk. */
  take({ disk, changes }: Commit): void {
    for (const { key, before, after } of changes) {
      if (disk.name === 'global' && after.id.kind === 'Zone') this.takeZone(after);
      if (!isOrigin(disk.name, after)) continue;
      if (after.deletedAt !== undefined || after.labels[SYNC_LABEL] === 'disabled') this.gone.set(key, after.revision);
      if (after.deletedAt !== undefined || before?.origin.revision === after.origin.revision) continue;
      const versions = this.versions.get(key) ?? new Map<number, Version>();
      this.versions.set(key, versions.set(after.origin.revision, { row: after, at: this.timeline.now }));
    }
  }

  version(key: string, originRevision: number): Version | undefined {
    return this.versions.get(key)?.get(originRevision);
  }

  /** Whether the origin has deleted the resource, or kept it to itself, after this version of it. */
  isGoneSince(key: string, originRevision: number): boolean {
    return (this.gone.get(key) ?? 0) > originRevision;
  }

  /** Whether other zones had to forget the zone's services at some time since then. */
  wasClosedSince(zone: string, at: number): boolean {
    return (this.closed.get(zone) ?? -1) >= at;
  }

  private takeZone(zone: Row): void {
    const { name } = zone.id;
    const open = zone.deletedAt === undefined && zone.spec['enabled'] !== false;
    if (!open) this.closed.set(name, Infinity);
    else if (this.closed.get(name) === Infinity) this.closed.set(name, this.timeline.now);
  }
}

/** Whether a row on a disk was made there. */
export function isOrigin(disk: string, { id }: Row): boolean {
  return id.zone === (disk === 'global' ? '' : disk);
}

/** Labels as they are everywhere: `kuma.io/origin` says where the holder is. */
export function sharedLabels({ labels }: Row): Readonly<Record<string, string>> {
  const { [Label.origin]: _origin, ...shared } = labels;
  return shared;
}
