import type { Registry } from '@causeway/resources';
import type { Said } from '../engine/network';
import type { Timeline } from '../engine/timeline';
import type { Commit, WatchedDisk } from '../engine/watched-disk';
import { AddressCheck } from './addresses';
import { AnswerCheck } from './answers';
import { differences, type Disks } from './convergence';
import { CopyCheck } from './copies';
import { checkRights } from './fences';
import { History } from './history';
import { checkElections, HostnameCheck } from './hostnames';
import type { Violation } from './violation';

interface CommitCheck {
  check(commit: Commit): void;
}

/** Holds a mesh against the invariants of design.md §9: at each commit, and at rest. */
export class Checker {
  violation: Violation | undefined;
  private readonly history: History;
  private readonly checks = new Map<WatchedDisk, readonly CommitCheck[]>();
  private readonly restoring = new Set<WatchedDisk>();

  constructor(
    private readonly disks: Disks,
    private readonly registry: Registry,
    private readonly timeline: Timeline,
    private readonly times: { readonly rest: number; readonly hold: number },
  ) {
    this.history = new History(timeline);
    for (const disk of [disks.global, ...disks.zones]) this.watch(disk);
  }

  /** The next new life of this disk is a restore; any other has no cause. */
  expectLife(disk: WatchedDisk): void {
    this.restoring.add(disk);
  }

  /** I4 and the elections of I3, once nothing moves. Returns what still differs. */
  differences(): string[] {
    return differences(this.disks, this.registry);
  }

  checkElections(): void {
    checkElections(this.disks.zones, this.report);
  }

  readonly report = (invariant: string, detail: string): void => {
    this.violation ??= { invariant, detail: `at ${this.timeline.now} ms: ${detail}` };
  };

  /** Sees each message of the mesh (I9). */
  listener(): (said: Said) => void {
    const diskOf = (name: string): WatchedDisk =>
      this.disks.zones.find((disk) => disk.name === name) ?? this.disks.global;
    const answers = new AnswerCheck(diskOf, this.registry, this.report);
    return (said) => answers.hear(said);
  }

  private watch(disk: WatchedDisk): void {
    this.checks.set(disk, this.checksOf(disk));
    disk.lifeWatcher = () => {
      if (!this.restoring.delete(disk)) this.report('I7', `${disk.name} began a new life without a cause`);
      this.history.restored(disk);
      this.checks.set(disk, this.checksOf(disk));
    };
    disk.watcher = (commit) => {
      checkRights(commit, this.report);
      this.history.take(commit);
      for (const each of this.checks.get(disk) ?? []) each.check(commit);
    };
  }

  /** Checks that begin with what the disk holds now. */
  private checksOf(disk: WatchedDisk): readonly CommitCheck[] {
    const { rest, hold } = this.times;
    const copies = new CopyCheck(disk, this.history, { hold, report: this.report });
    if (disk === this.disks.global) return [copies];
    return [copies, new AddressCheck(disk, rest, this.report), new HostnameCheck(disk, this.report)];
  }
}
