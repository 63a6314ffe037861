import type { ControlPlane } from '@causeway/resources';
import { MemoryStore } from '@causeway/store/testing';
import { silentLogger } from '@causeway/runtime';
import { runPeriodically } from '../../apps/control-plane/src/leader/store-maintenance';
import { differences } from '../../test/simulation/check/convergence';
import { AddressCheck } from '../../test/simulation/check/addresses';
import { HostnameCheck } from '../../test/simulation/check/hostnames';
import { SimNetwork, type Served } from '../../test/simulation/engine/network';
import type { Prng } from '../../test/simulation/engine/prng';
import { SimClock } from '../../test/simulation/engine/sim-process';
import { Timeline } from '../../test/simulation/engine/timeline';
import { WatchedDisk, type Commit } from '../../test/simulation/engine/watched-disk';
import { SimReplica, type Surroundings } from '../../test/simulation/mesh/plane';
import type { UserAction } from '../../test/simulation/mesh/steps';
import { meshChange, userChange, type Desk } from '../../test/simulation/mesh/user-writes';
import { SIMULATED_KINDS } from '../../test/simulation/mesh/world';

const HOUR = 3_600_000;
/** Times of a control plane with preset settings (docs/reference/settings.md). */
const TIMES = { lease: 3_000, rest: 60_000, grace: HOUR, hold: 300_000 };
const LOST = { policy: 'keep', after: 300_000 } as const;
const RETENTION = 24 * HOUR;
const REPLICAS = 2;

/** The control planes of a simulated soak. */
export const PLANES = ['global', 'east', 'west'] as const;

interface Plane extends Desk {
  readonly name: string;
  readonly store: MemoryStore;
  readonly replicas: SimReplica[];
}

/** A global and two zones of two replicas each: the real engine on simulated time, with the times of a real mesh. */
export class SimulatedWorld {
  readonly timeline = new Timeline();
  readonly network: SimNetwork;
  readonly planes: readonly Plane[];
  readonly violations: string[] = [];
  private readonly around: Surroundings;
  private lives = 0;
  private ids = 0;

  constructor(readonly random: Prng) {
    const served = (): readonly Served[] => this.plane('global').replicas.flatMap((replica) => replica.served ?? []);
    this.network = new SimNetwork(served, random.fork('network'));
    this.around = {
      timeline: this.timeline,
      network: this.network,
      registry: SIMULATED_KINDS,
      random,
      times: TIMES,
      lost: LOST,
      ranges: {
        MeshService: '241.0.0.0/16',
        MeshExternalService: '242.0.0.0/16',
        MeshMultiZoneService: '243.0.0.0/16',
      },
      storeFaults: {},
      keeperFault: (options) => options,
      leads: () => undefined,
      chores: (process, store, term) => {
        const purge = { failure: 'purge', run: () => store.purgeTombstones(RETENTION) };
        return runPeriodically({ clock: process.clock, logger: silentLogger }, term.signal, [purge]);
      },
    };
    this.planes = PLANES.map((name) => this.newPlane(name));
    const global = this.plane('global');
    void global.store.write({ changes: [meshChange(global)], onRefusal: 'abort' });
    for (const plane of this.planes) for (let n = 0; n < REPLICAS; n++) this.start(plane, n);
  }

  plane(name: string): Plane {
    const plane = this.planes.find((each) => each.name === name);
    if (!plane) throw new Error(`no control plane ${name}`);
    return plane;
  }

  async pass(until: number): Promise<void> {
    await this.timeline.runUntil(until, () => this.violations.length > 0);
  }

  /** A user writes. */
  act(action: UserAction): void {
    const plane = this.plane('on' in action ? action.on : 'global');
    const request = { changes: [userChange(action, plane)], onRefusal: 'skip' } as const;
    void plane.disk.during({ writer: '', request }, () => plane.store.write(request));
  }

  /** Ends a replica as kill -9 does; another starts after `down` ms. */
  kill(name: string, n: number, down: number): void {
    const plane = this.plane(name);
    const replica = plane.replicas[n];
    if (!replica || replica.process.isDead) return;
    replica.process.kill();
    this.network.breakOf(replica.process, this.random.pick(['reset', 'half-open']));
    this.timeline.after(down, () => this.start(plane, n));
  }

  /** Stops a replica (SIGSTOP) for so long. */
  pause(name: string, n: number, ms: number): void {
    const process = this.plane(name).replicas[n]?.process;
    process?.pause();
    this.timeline.after(ms, () => process?.resume());
  }

  /** Cuts a zone off for so long. */
  cut(zone: string, ms: number): void {
    this.network.cut.add(zone);
    this.network.break(zone, 'reset');
    this.timeline.after(ms, () => this.network.cut.delete(zone));
  }

  /** The database of a replica is away for so long. */
  withoutDatabase(name: string, n: number, ms: number): void {
    const link = this.plane(name).replicas[n]?.link;
    if (!link) return;
    link.away = true;
    this.timeline.after(ms, () => (link.away = false));
  }

  /** I4, at rest: what a control plane lacks or holds though its origin does not. */
  differences(): string[] {
    const zones = this.planes.flatMap(({ name, disk }) => (name === 'global' ? [] : [disk]));
    return differences({
      global: this.plane('global').disk,
      zones,
      registry: SIMULATED_KINDS,
      away: undefined,
      lost: LOST,
    });
  }

  private start(plane: Plane, n: number): void {
    plane.replicas[n] = new SimReplica(plane.cp, plane.disk, `${plane.name}-${n}.${this.lives++}`, this.around);
  }

  private newPlane(name: string): Plane {
    const cp: ControlPlane = name === 'global' ? { role: 'global' } : { role: 'zone', zone: name, federated: true };
    const clock = new SimClock(this.timeline, this.random.fork(name).between(-2_000, 2_000));
    const disk = new WatchedDisk(name, { clock, newId: () => `id-${++this.ids}` });
    const report = (invariant: string, detail: string): void => void this.violations.push(`${invariant}: ${detail}`);
    if (name !== 'global') {
      const checks = [new AddressCheck(disk, TIMES.rest, report), new HostnameCheck(disk, report)];
      disk.watcher = (commit: Commit) => checks.forEach((check) => check.check(commit));
    }
    return { name, cp, disk, registry: SIMULATED_KINDS, store: new MemoryStore(disk), replicas: [] };
  }
}
