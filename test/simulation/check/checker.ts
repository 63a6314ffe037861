import type { Said } from '../engine/network';
import type { Timeline } from '../engine/timeline';
import type { Commit, WatchedDisk } from '../engine/watched-disk';
import { AddressCheck } from './addresses';
import { AnswerCheck } from './answers';
import { misstated } from './conditions';
import { connected, differences, type RestingMesh } from './convergence';
import { CopyCheck } from './copies';
import { checkRights } from './fences';
import { History } from './history';
import { checkElections, HostnameCheck } from './hostnames';
import { LostZoneCheck, type LostZoneLimits } from './lost-zones';
import { OrderCheck } from './orders';
import type { Violation } from './violation';

interface CommitCheck {
  check(commit: Commit): void;
}

/** Limits of a checker, besides the mesh. */
export interface CheckLimits {
  readonly rest: number;
  readonly hold: number;
  readonly lostZones: Omit<LostZoneLimits, 'report' | 'timeline' | 'rule'>;
}

/** Holds a mesh against the invariants of docs/design.md §9: at each commit, and at rest. */
export class Checker {
  violation: Violation | undefined;
  private readonly history: History;
  private readonly checks = new Map<WatchedDisk, readonly CommitCheck[]>();
  private readonly restoring = new Set<WatchedDisk>();

  constructor(
    private readonly mesh: RestingMesh,
    private readonly timeline: Timeline,
    private readonly limits: CheckLimits,
  ) {
    this.history = new History(timeline);
    for (const disk of [mesh.global, ...mesh.zones]) this.watch(disk);
  }

  /** The next new incarnation of this disk is a restore; any other has no cause. */
  expectLife(disk: WatchedDisk): void {
    this.restoring.add(disk);
  }

  /** I4, once nothing moves: what still differs. */
  differences(): string[] {
    return differences(this.mesh);
  }

  /** Conditions that are not as they must be, once nothing moves. */
  misstated(): string[] {
    return misstated(this.mesh);
  }

  /** The elections of I3, once nothing moves. */
  checkElections(): void {
    checkElections(connected(this.mesh), this.report);
  }

  readonly report = (invariant: string, detail: string): void => {
    this.violation ??= { invariant, detail: `at ${this.timeline.now} ms: ${detail}` };
  };

  /** Sees each message of the mesh (I9). */
  listener(): (said: Said) => void {
    const diskOf = (name: string): WatchedDisk =>
      this.mesh.zones.find((disk) => disk.name === name) ?? this.mesh.global;
    const answers = new AnswerCheck(diskOf, this.mesh.registry, this.report);
    return (said) => answers.hear(said);
  }

  private watch(disk: WatchedDisk): void {
    this.checks.set(disk, this.checksOf(disk));
    disk.lifeWatcher = () => {
      if (!this.restoring.delete(disk)) this.report('I7', `${disk.name} began a new incarnation without a cause`);
      this.history.restored(disk);
      this.checks.set(disk, this.checksOf(disk));
    };
    disk.watcher = (commit) => {
      checkRights(commit, this.report);
      this.history.take(commit);
      for (const each of this.checks.get(disk) ?? []) each.check(commit);
    };
  }

  /** Returns checks that begin with the present state of the disk. */
  private checksOf(disk: WatchedDisk): readonly CommitCheck[] {
    const { report, timeline, mesh } = this;
    const { rest, hold, lostZones } = this.limits;
    const copies = new CopyCheck(disk, this.history, { hold, report });
    if (disk !== mesh.global) return [copies, new AddressCheck(disk, rest, report), new HostnameCheck(disk, report)];
    const orders = new OrderCheck(disk, mesh.registry, report);
    return [copies, orders, new LostZoneCheck(disk, { ...lostZones, timeline, report, rule: mesh.lost })];
  }
}
