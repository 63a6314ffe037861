import { Label } from '@causeway/resources';
import { readLostState, type LostState } from '@causeway/sync';
import { SYNC_LABEL } from '../mesh/user-writes';
import type { Timeline } from '../engine/timeline';
import type { Commit, Row, WatchedDisk } from '../engine/watched-disk';

/** A version of a resource at its origin. */
export interface Version {
  readonly row: Row;
  /** Simulated time of its commit. */
  readonly at: number;
}

/** Origin that a copy names. */
export type Origin = Pick<Row['origin'], 'incarnation' | 'revision'>;

/** The incarnations of one store, and when the last began by a restore. */
interface Lives {
  readonly names: string[];
  restoredAt: number | undefined;
}

/** Records what was made where, and when: the truth against which copies are checked. */
export class History {
  private readonly versions = new Map<string, Map<string, Version>>();
  /** For each incarnation of its origin, the newest revision at which a resource was deleted or excluded from sync. */
  private readonly gone = new Map<string, Map<string, number>>();
  /** Zones whose services other zones may not know: disabled, deleted, or withdrawn as lost. */
  private readonly closed = new Spells();
  private readonly deletedZones = new Spells();
  private readonly missingMeshes = new Spells();
  /** Names of the Zones and Meshes that ever were, by kind. */
  private readonly owners = { Zone: new Set<string>(), Mesh: new Set<string>() };
  private readonly lives = new Map<string, Lives>();

  constructor(private readonly timeline: Timeline) {}

  /** Records the writes of the control plane of a disk. */
  take({ disk, changes }: Commit): void {
    for (const { key, before, after } of changes) {
      if (disk.name === 'global') this.takeOwner(after.id, after);
      if (!isOrigin(disk.name, after)) continue;
      if (after.deletedAt !== undefined || after.labels[SYNC_LABEL] === 'disabled') this.takeGone(disk, key, after);
      const same = before?.deletedAt === undefined && before?.origin.revision === after.origin.revision;
      if (after.deletedAt === undefined && !same) this.takeVersion(disk, key, after);
    }
  }

  /** A store was set back and began a new incarnation: its present state is all that this incarnation ever had. */
  restored(disk: WatchedDisk): void {
    const { names } = this.livesOf(disk.name);
    this.lives.set(disk.name, { names: [...names, disk.incarnation], restoredAt: this.timeline.now });
    for (const [key, row] of disk.rows) {
      if (row.deletedAt === undefined && isOrigin(disk.name, row)) this.takeVersion(disk, key, row);
    }
    if (disk.name !== 'global') return;
    for (const kind of ['Zone', 'Mesh'] as const) {
      for (const name of this.owners[kind]) this.takeOwner({ kind, name }, disk.rows.get(`${kind}////${name}`));
    }
    for (const row of disk.rows.values()) this.takeOwner(row.id, row);
  }

  version(key: string, { incarnation, revision }: Origin): Version | undefined {
    return this.versions.get(key)?.get(`${incarnation} ${revision}`);
  }

  /** Whether the origin has deleted the resource, or kept it to itself, after this version of it. */
  isGoneSince(key: string, origin: string, { incarnation = '', revision }: Origin): boolean {
    const { names } = this.livesOf(origin);
    for (const [life, at] of this.gone.get(key) ?? []) {
      if (life === incarnation ? at > revision : names.indexOf(life) > names.indexOf(incarnation)) return true;
    }
    return false;
  }

  /** Whether other zones had to forget the zone's services at some time since then. */
  wasClosedSince(zone: string, at: number): boolean {
    return this.closed.wasSoSince(zone, at);
  }

  /** Whether the zone had no Zone at some time since then. */
  wasDeletedSince(zone: string, at: number): boolean {
    return this.deletedZones.wasSoSince(zone, at);
  }

  /** Whether zones had to forget the contents of the mesh at some time since then. */
  wasMeshMissingSince(mesh: string, at: number): boolean {
    return this.missingMeshes.wasSoSince(mesh, at);
  }

  /** Whether the store of a control plane was set back so many ms ago or earlier. */
  wasRestored(name: string, ago: number): boolean {
    const { restoredAt } = this.livesOf(name);
    return restoredAt !== undefined && this.timeline.now - restoredAt >= ago;
  }

  private takeVersion(disk: WatchedDisk, key: string, row: Row): void {
    const versions = this.versions.get(key) ?? new Map<string, Version>();
    this.versions.set(key, versions.set(`${disk.incarnation} ${row.origin.revision}`, { row, at: this.timeline.now }));
  }

  private takeGone(disk: WatchedDisk, key: string, row: Row): void {
    const { names } = this.livesOf(disk.name);
    if (!names.includes(disk.incarnation)) names.push(disk.incarnation);
    this.gone.set(key, (this.gone.get(key) ?? new Map<string, number>()).set(disk.incarnation, row.revision));
  }

  /** Records what a Zone or Mesh says of its resources. */
  private takeOwner({ kind, name }: Pick<Row['id'], 'kind' | 'name'>, row: Row | undefined): void {
    if (kind !== 'Zone' && kind !== 'Mesh') return;
    const { now } = this.timeline;
    const isGone = row === undefined || row.deletedAt !== undefined;
    this.owners[kind].add(name);
    if (kind === 'Mesh') return this.missingMeshes.take(name, isGone, now);
    this.deletedZones.take(name, isGone, now);
    this.closed.take(name, isGone || !isOpen(row), now);
  }

  private livesOf(name: string): Lives {
    return this.lives.get(name) ?? this.firstLife(name);
  }

  private firstLife(name: string): Lives {
    const lives = { names: [], restoredAt: undefined };
    this.lives.set(name, lives);
    return lives;
  }
}

/** Until when something was so last, by name. */
class Spells {
  private readonly ends = new Map<string, number>();

  take(name: string, isSo: boolean, now: number): void {
    if (isSo) this.ends.set(name, Infinity);
    else if (this.ends.get(name) === Infinity) this.ends.set(name, now);
  }

  wasSoSince(name: string, at: number): boolean {
    return (this.ends.get(name) ?? -1) >= at;
  }
}

/** Returns what a Zone says of its loss; undefined if it is not lost, or there is no Zone. */
export function lostOf(zone: Row | undefined): LostState | undefined {
  return readLostState({ status: zone?.status ?? {} });
}

/** Whether other zones may know the resources of a zone. */
export function isOpen(zone: Row): boolean {
  return zone.spec['enabled'] !== false && lostOf(zone)?.policy !== 'withdraw';
}

/** Whether a row on a disk was made there. */
export function isOrigin(disk: string, { id }: Row): boolean {
  return id.zone === (disk === 'global' ? '' : disk);
}

/** Returns the labels that all copies share: `kuma.io/origin` depends on the holder. */
export function sharedLabels({ labels }: Pick<Row, 'labels'>): Readonly<Record<string, string>> {
  const { [Label.origin]: _origin, ...shared } = labels;
  return shared;
}
