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

/** Holds a mesh against the invariants of design.md §9: at each commit, and at rest. */
export class Checker {
  violation: Violation | undefined;
  private readonly history: History;
  private readonly checks = new Map<WatchedDisk, readonly { check(commit: Commit): void }[]>();

  constructor(
    private readonly disks: Disks,
    private readonly registry: Registry,
    private readonly timeline: Timeline,
    rest: number,
  ) {
    this.history = new History(timeline);
    this.watch(disks.global, []);
    for (const zone of disks.zones) {
      this.watch(zone, [new AddressCheck(zone, rest, this.report), new HostnameCheck(zone, this.report)]);
    }
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

  private watch(disk: WatchedDisk, more: readonly { check(commit: Commit): void }[]): void {
    this.checks.set(disk, [new CopyCheck(disk, this.history, this.report), ...more]);
    disk.watcher = (commit) => {
      checkRights(commit, this.report);
      this.history.take(commit);
      for (const each of this.checks.get(disk) ?? []) each.check(commit);
    };
  }
}
