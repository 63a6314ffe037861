import {
  HostnameGenerator,
  Dataplane,
  Mesh,
  MeshExternalService,
  MeshMultiZoneService,
  MeshService,
  Zone,
} from '@causeway/kinds';
import { identityKey, Registry, type ControlPlane, type Identity } from '@causeway/resources';
import type { Change } from '@causeway/store';
import { MemoryStore, type MemoryBackup } from '@causeway/store/testing';
import { Checker } from '../check/checker';
import { ProxyCheck, type ProxyFault } from '../check/proxies';
import type { Violation } from '../check/violation';
import type { StoreFaults } from '../engine/database';
import { KEEPALIVE, SimNetwork, type NetworkFaults, type Served } from '../engine/network';
import { Prng } from '../engine/prng';
import { SimClock } from '../engine/sim-process';
import { Timeline } from '../engine/timeline';
import { WatchedDisk } from '../engine/watched-disk';
import { LOST, SimReplica, TIMES, type KeeperFault, type Surroundings } from './plane';
import type { Mishap, Schedule, Step, UserAction } from './steps';
import { meshChange, userChange, type Desk } from './user-writes';

/** The kinds that the simulation uses: each sync rule, few messages. */
export const SIMULATED_KINDS = new Registry([
  Mesh,
  Zone,
  Dataplane,
  MeshService,
  MeshMultiZoneService,
  MeshExternalService,
  HostnameGenerator,
]);

/** Faults that are planted on purpose. */
export interface Faults {
  readonly store?: StoreFaults;
  readonly network?: NetworkFaults;
  readonly keeper?: KeeperFault;
  readonly proxies?: ProxyFault;
}

/** Result of a run. */
export interface Outcome {
  readonly violation: Violation | undefined;
  /** A number that two runs of one schedule share, down to each commit. */
  readonly digest: number;
  readonly steps: number;
  readonly commits: number;
  readonly messages: number;
  /** Simulated ms. */
  readonly time: number;
}

interface Plane extends Desk {
  readonly store: MemoryStore;
  readonly replicas: (SimReplica | undefined)[];
  backup: MemoryBackup | undefined;
}

const SLICE = 5_000;
/** Slices without a change after which a mesh is at rest: longer than any rest or grace. */
const QUIET_SLICES = 4;
const PATIENCE = 300_000;
/** Proxies are in one schedule of so many. */
const PROXIES_EACH = 20;

/** A mesh that runs through a schedule. */
export class World {
  private readonly timeline = new Timeline();
  private readonly random: Prng;
  private readonly userWrites: Prng;
  private readonly network: SimNetwork;
  private readonly checker: Checker;
  private readonly planes = new Map<string, Plane>();
  private readonly proxies: ProxyCheck[] = [];
  private readonly around: Surroundings;
  /** When leaders of the global began to lead, by epoch. */
  private readonly termsBegan = new Map<number, number>();
  private lives = 0;
  private ids = 0;
  private digest = 0;
  /** Whether all steps were taken. */
  private isOver = false;

  constructor(
    private readonly schedule: Schedule,
    faults: Faults = {},
  ) {
    this.random = new Prng(`run ${schedule.seed}`);
    this.userWrites = this.random.fork('writes of users');
    const served = (): readonly Served[] => this.replicasOf('global').flatMap((replica) => replica.served ?? []);
    this.network = new SimNetwork(served, this.random.fork('network'), faults.network);
    this.around = {
      timeline: this.timeline,
      network: this.network,
      registry: SIMULATED_KINDS,
      random: this.random,
      ranges: rangesOf(schedule.prefix),
      storeFaults: faults.store ?? {},
      keeperFault: faults.keeper ?? ((options) => options),
      times: TIMES,
      lost: LOST,
      watchProxies: (zone, index, meshes) => {
        if (!this.hasProxies(faults)) return;
        const report = (difference: string): void => this.checker.report('proxies', difference);
        this.proxies.push(
          new ProxyCheck({ index, zone, meshes, report, ...(faults.proxies && { fault: faults.proxies }) }),
        );
      },
      leads: ({ epoch }) => this.termsBegan.set(epoch, this.timeline.now),
    };
    const global = this.addPlane('global', { role: 'global' }, schedule.globals);
    const zones = schedule.zones.map(({ name, replicas }) =>
      this.addPlane(name, { role: 'zone', zone: name, federated: true }, replicas),
    );
    const disks = { global: global.disk, zones: zones.map(({ disk }) => disk) };
    const mesh = { ...disks, registry: SIMULATED_KINDS, away: schedule.staysAway, lost: LOST };
    this.checker = new Checker(mesh, this.timeline, {
      rest: TIMES.rest,
      hold: this.surestHold(),
      lostZones: {
        serves: (process, zone, session) => this.network.serves(process, zone, session),
        leadsSince: (epoch) => this.termsBegan.get(epoch) ?? 0,
      },
    });
    // Reading every message twice is dear: a quarter of the schedules is enough.
    if (schedule.seed % 4 === 0) this.network.tap = this.checker.listener();
    for (const { disk } of this.planes.values()) this.addToDigest(disk);
    this.write(global, meshChange(global));
    for (const plane of this.planes.values()) plane.replicas.forEach((_, at) => this.start(plane, at));
  }

  /** Runs the whole schedule; ends at the first violation. */
  async run(): Promise<Outcome> {
    for (const step of this.schedule.steps) this.timeline.at(step.at, () => this.take(step));
    await this.pass(this.schedule.steps.at(-1)?.at ?? 0);
    this.mendAll();
    await this.settle();
    if (this.mayRestart() && !this.checker.violation) await this.restartAll();
    const { violation } = this.checker;
    const commits = [...this.planes.values()].reduce((sum, { disk }) => sum + disk.commits, 0);
    this.stopAll();
    const { timeline, network, digest } = this;
    return { violation, digest, steps: timeline.steps, commits, messages: network.delivered, time: timeline.now };
  }

  private async pass(until: number): Promise<void> {
    await this.timeline.runUntil(until, () => this.checker.violation !== undefined);
  }

  /** I4 and I10: everything comes to rest, and then is as it should be. */
  private async settle(): Promise<void> {
    const end = this.timeline.now + PATIENCE;
    let [quiet, before] = [0, ''];
    while (quiet < QUIET_SLICES && !this.checker.violation) {
      await this.pass(this.timeline.now + SLICE);
      const now = this.activity();
      const [differences, misstated] = [this.checker.differences(), this.checker.misstated()];
      quiet = now === before && differences.length + misstated.length === 0 ? quiet + 1 : 0;
      before = now;
      if (this.timeline.now < end) continue;
      if (differences.length > 0) this.checker.report('I4', differences.slice(0, 5).join('; '));
      else if (misstated.length > 0) this.checker.report('conditions', misstated.slice(0, 5).join('; '));
      else this.checker.report('I10', `it never comes to rest: ${now}`);
    }
    this.checker.checkElections();
    for (const proxies of this.proxies) proxies.check();
  }

  /** A build from nothing for each proxy is dear: a part of the schedules is enough. */
  private hasProxies({ proxies }: Faults): boolean {
    return proxies !== undefined || this.schedule.seed % PROXIES_EACH === 0;
  }

  /** I2 and I10: nothing changed while no replica ran, so nothing is written. */
  private async restartAll(): Promise<void> {
    const before = this.revisions();
    for (const plane of this.planes.values()) {
      plane.replicas.forEach((replica, at) => {
        if (replica) this.kill(replica, 'reset');
        this.start(plane, at);
      });
    }
    await this.settle();
    if (this.revisions() !== before)
      this.checker.report('I10', `a restart wrote: ${before} became ${this.revisions()}`);
  }

  /** A clock that jumped back makes a grace last longer: what ends after that is no work of the restart. */
  private mayRestart(): boolean {
    return this.schedule.restartsAtEnd && !this.schedule.steps.some(({ type }) => type === 'skew');
  }

  private revisions(): string {
    return [...this.planes].map(([name, { disk }]) => `${name} ${disk.revision}`).join(', ');
  }

  private activity(): string {
    return `${this.revisions()}, ${this.network.delivered} messages`;
  }

  private take(step: Step): void {
    switch (step.type) {
      case 'kill':
      case 'stop':
      case 'pause':
      case 'away':
      case 'lag':
      case 'slow':
      case 'skew':
        return this.strike(step);
      case 'depose':
        return depose(this.plane(step.plane).disk);
      case 'backup':
        this.plane(step.plane).backup = this.plane(step.plane).disk.save();
        return;
      case 'restore':
        return this.restore(this.plane(step.plane));
      case 'break':
        return this.network.break(step.zone, step.how);
      case 'cut':
        this.network.cut.add(step.zone);
        this.network.break(step.zone, step.how);
        return void this.timeline.after(step.for, () => this.mend(step.zone));
      default:
        return this.act(step);
    }
  }

  private act(action: UserAction): void {
    const plane = this.plane('on' in action ? action.on : 'global');
    this.write(plane, userChange(action, plane));
  }

  private strike(step: Extract<Mishap, { readonly replica: number }>): void {
    const plane = this.plane(step.plane);
    const replica = plane.replicas[step.replica];
    if (!replica || replica.process.isDead) return;
    const { process, link } = replica;
    switch (step.type) {
      case 'kill':
        this.kill(replica, step.how);
        return this.startAfter(plane, step);
      case 'stop':
        replica.stop();
        // It has some time to end, as any process manager gives.
        return void this.timeline.after(3_000, () => {
          this.kill(replica, 'reset');
          this.startAfter(plane, step);
        });
      case 'pause':
        process.pause();
        this.timeline.after(KEEPALIVE, () =>
          process.isPaused ? this.network.breakOf(process, 'half-open') : undefined,
        );
        return void this.timeline.after(step.for, () => process.resume());
      case 'away':
        link.away = true;
        return void this.timeline.after(step.for, () => (link.away = false));
      case 'lag':
        link.lag = step.ms;
        return void this.timeline.after(step.for, () => (link.lag = 0));
      case 'slow':
        link.slow = step.ms;
        return void this.timeline.after(step.for, () => (link.slow = 0));
      case 'skew':
        process.clock.skew += step.ms;
    }
  }

  /** As an operator does it: the processes are stopped, the store is set back, the processes are started. */
  private restore(plane: Plane): void {
    if (!plane.backup) return;
    for (const replica of plane.replicas) if (replica) this.kill(replica, 'reset');
    this.checker.expectLife(plane.disk);
    plane.disk.restore(plane.backup);
    plane.replicas.forEach((_, at) => this.startAfter(plane, { replica: at, for: 100 }));
  }

  /** Holds are measured by clocks of processes, which differ, and may jump. */
  private surestHold(): number {
    return this.schedule.steps.some(({ type }) => type === 'skew') ? 0 : TIMES.hold - 5_000;
  }

  private startAfter(plane: Plane, { replica, for: ms }: { readonly replica: number; readonly for: number }): void {
    this.timeline.after(ms, () => {
      if (plane.replicas[replica]?.process.isDead) this.start(plane, replica);
    });
  }

  /** Links and processes are as they should be from now on, but for the zone that stays away. */
  private mendAll(): void {
    const { staysAway } = this.schedule;
    this.isOver = true;
    this.network.cut.clear();
    if (staysAway !== undefined) {
      this.network.cut.add(staysAway);
      this.network.break(staysAway, 'reset');
    }
    for (const plane of this.planes.values()) {
      plane.replicas.forEach((replica, at) => {
        if (!replica) return;
        replica.link.away = false;
        replica.link.lag = 0;
        replica.link.slow = 0;
        replica.process.resume();
        if (replica.process.isDead) this.start(plane, at);
      });
    }
  }

  private mend(zone: string): void {
    if (!this.isOver || zone !== this.schedule.staysAway) this.network.cut.delete(zone);
  }

  private start(plane: Plane, at: number): void {
    const name = `${plane.disk.name}-${at}.${this.lives++}`;
    plane.replicas[at] = new SimReplica(plane.cp, plane.disk, name, this.around);
  }

  private kill({ process }: SimReplica, how: 'reset' | 'half-open'): void {
    process.kill();
    this.network.breakOf(process, how);
  }

  private stopAll(): void {
    for (const { replicas } of this.planes.values()) for (const replica of replicas) replica?.process.kill();
  }

  /** Writes for a user. What it creates goes mostly through a replica that leads, or believes so. */
  private write(plane: Plane, change: Change): void {
    if (change.type === 'put' && !hasRow(plane.disk, change.id) && this.userWrites.chance(0.7)) {
      const creation = { changes: [{ ...change, expect: 'absent' }], onRefusal: 'skip' } as const;
      if (plane.replicas.some((replica) => replica?.writeForUser(creation))) return;
    }
    const request = { changes: [change], onRefusal: 'skip' } as const;
    void plane.disk.during({ writer: '', request }, () => plane.store.write(request));
  }

  private addPlane(name: string, cp: ControlPlane, replicas: number): Plane {
    const clock = new SimClock(this.timeline, this.random.fork(`clock of ${name}`).between(-5_000, 5_000));
    const disk = new WatchedDisk(name, { clock, newId: () => `id-${++this.ids}` });
    const seats = Array.from({ length: replicas }, () => undefined);
    const plane = {
      cp,
      disk,
      registry: SIMULATED_KINDS,
      store: new MemoryStore(disk),
      replicas: seats,
      backup: undefined,
    };
    this.planes.set(name, plane);
    return plane;
  }

  private plane(name: string): Plane {
    const plane = this.planes.get(name);
    if (!plane) throw new Error(`no control plane ${name}`);
    return plane;
  }

  private replicasOf(name: string): SimReplica[] {
    return this.plane(name).replicas.flatMap((replica) => replica ?? []);
  }

  private addToDigest(disk: WatchedDisk): void {
    const { watcher } = disk;
    disk.watcher = (commit) => {
      watcher?.(commit);
      for (const { key, after } of commit.changes) {
        for (const part of [this.timeline.now, after.revision, key.length, key.charCodeAt(key.length - 1)]) {
          this.digest = (Math.imul(this.digest, 31) + part) | 0;
        }
      }
    };
  }
}

function hasRow({ rows }: WatchedDisk, id: Identity): boolean {
  const row = rows.get(identityKey(id));
  return row !== undefined && row.deletedAt === undefined;
}

function rangesOf(prefix: number): Readonly<Record<string, string>> {
  return {
    MeshService: `241.0.0.0/${prefix}`,
    MeshExternalService: `242.0.0.0/${prefix}`,
    MeshMultiZoneService: `243.0.0.0/${prefix}`,
  };
}

/** Ends the lease of the leader without its knowledge: another takes over while the former still works. */
function depose(disk: WatchedDisk): void {
  disk.leader = { ...disk.leader, expiresAt: 0 };
  for (const listener of [...disk.releaseListeners]) listener();
}
