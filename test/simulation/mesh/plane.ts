import { ChannelCredentials } from '@grpc/grpc-js';
import { createConditionsReconciler, createZoneReconcilers } from '@causeway/controllers';
import { LoopRunner } from '@causeway/loops';
import { createElection, silentLogger, type LeaderTerm } from '@causeway/runtime';
import { Forbidden, type ControlPlane, type Registry } from '@causeway/resources';
import { DEFAULT_MESH_OWNER, type Meshes } from '@causeway/meshes';
import { followStore, ResourceIndex, type IndexReader, type WriteRequest } from '@causeway/store';
import type { LostRule } from '@causeway/sync';
import { createZoneLifecycleLoop, type GlobalSync } from '@causeway/kds';
import { createGlobalSync, createZoneSync, type ZoneLifecycleOptions } from '@causeway/kds/testing';
import { asUser, DatabaseLink, simLease, simSessions, SimStore, type StoreFaults } from '../engine/database';
import type { Served, SimNetwork } from '../engine/network';
import type { Prng } from '../engine/prng';
import { SimProcess } from '../engine/sim-process';
import type { Timeline } from '../engine/timeline';
import type { WatchedDisk } from '../engine/watched-disk';
import { meshesOf } from '../../support/meshes';
import { shownToken } from '../../support/zone-token';

/** Durations in a simulation, ms: short, so that they end within it. */
export const TIMES: Times = { lease: 6_000, rest: 15_000, grace: 8_000, hold: 20_000 };

/** Durations on a mesh, ms. */
export interface Times {
  readonly lease: number;
  /** Cooldown of a freed address. */
  readonly rest: number;
  /** Of a service without instances. */
  readonly grace: number;
  /** Hold of what a new incarnation of a peer lacks. */
  readonly hold: number;
}

/** Rule for the loss of a zone whose Zone has none. */
export const LOST: LostRule = { policy: 'keep', after: 20_000 };

/** Injected faults in the inputs of the global's leader; only runs that test the checker set any. */
export type KeeperFault = (options: ZoneLifecycleOptions) => ZoneLifecycleOptions;

/** Parts that all control planes of a simulation share. */
export interface Surroundings {
  readonly timeline: Timeline;
  readonly network: SimNetwork;
  readonly registry: Registry;
  readonly random: Prng;
  readonly ranges: Readonly<Record<string, string>>;
  readonly storeFaults: StoreFaults;
  readonly keeperFault: KeeperFault;
  readonly times: Times;
  readonly lost: LostRule;
  /** Further work of a leader, until its term ends. */
  readonly chores?: (process: SimProcess, store: SimStore, term: LeaderTerm) => Promise<void>;
  /** Checks what proxies of a replica of a zone are sent. */
  readonly watchProxies?: (zone: string, index: IndexReader, meshes: Meshes) => void;
  /** Called with each term of a leader of the global as it begins. */
  readonly leads: (term: LeaderTerm) => void;
}

type ZonePlane = Extract<ControlPlane, { readonly role: 'zone' }>;

/** One replica of a control plane: one run of a process with the real engine in it. */
export class SimReplica {
  readonly process: SimProcess;
  readonly link: DatabaseLink;
  readonly index = new ResourceIndex();
  /** Of the global. */
  sync: GlobalSync | undefined;
  /** Of the leader of a zone. */
  private runner: LoopRunner | undefined;
  private readonly life = new AbortController();
  private readonly store: SimStore;
  private readonly random: Prng;

  constructor(
    readonly cp: ControlPlane,
    disk: WatchedDisk,
    name: string,
    private readonly around: Surroundings,
  ) {
    this.random = around.random.fork(name);
    this.process = new SimProcess(name, around.timeline, this.random.between(-2_000, 2_000));
    this.link = new DatabaseLink(this.process, disk, this.random.fork('database'), around.storeFaults);
    this.store = new SimStore(this.link, (changes) => {
      const { point } = this.index;
      if (point) this.index.apply({ revision: point.revision, changes });
    });
    if (this.cp.role === 'global') this.startGlobal();
    else void this.startZone(this.cp);
  }

  /** The port of this replica for zones; undefined on a zone. */
  get served(): Served | undefined {
    const { process, sync } = this;
    if (!sync || process.isDead) return undefined;
    return {
      process,
      handshake: (request, headers) => sync.handshake(request, headers),
      accept: (arrived) => sync.accept(arrived),
    };
  }

  /** Writes for a user through the loops, as admission does; false if this replica does not lead a zone. */
  writeForUser(request: WriteRequest): boolean {
    const { process, runner } = this;
    if (process.isDead || !runner) return false;
    process.deliver(() => {
      runner.write(asUser(request)).catch(() => undefined);
    });
    return true;
  }

  /** Asks the process to end (SIGTERM). */
  stop(): void {
    this.process.deliver(() => {
      this.life.abort();
      void this.sync?.close();
    });
  }

  private follow(): void {
    const { store, index, process, life } = this;
    const options = { clock: process.clock, logger: silentLogger, signal: life.signal, random: this.jitter };
    void followStore(store, index, options);
  }

  private startGlobal(): void {
    this.follow();
    void this.elect((term) => this.leadGlobal(term));
    this.sync = createGlobalSync({
      store: this.store,
      sessions: simSessions(this.link),
      index: this.link.faults.view?.(this.index, this.link.disk) ?? this.index,
      meshes: rowsOnly(this.index),
      registry: this.around.registry,
      clock: this.process.clock,
      logger: silentLogger,
      instance: this.process.name,
      version: '0.0.0',
      auth: { authenticate: ({ zone, token }) => admit(zone, token) },
      hold: this.around.times.hold,
      maintenance: this.store,
    });
  }

  private async startZone(cp: ZonePlane): Promise<void> {
    this.follow();
    this.around.watchProxies?.(cp.zone, this.index, rowsOnly(this.index));
    await this.elect((term) => this.leadZone(term, cp));
  }

  private async elect(lead: (term: LeaderTerm) => Promise<void>): Promise<void> {
    await this.index.reached(0);
    const election = createElection({
      lease: simLease(this.link),
      holder: this.process.name,
      leaseMs: this.around.times.lease,
      clock: this.process.clock,
      logger: silentLogger,
      random: this.jitter,
    });
    await election.run(lead, this.life.signal);
  }

  /** Runs the leader's loops as apps/global does, except for the defaults, which the schedule writes, and for hourly tasks. */
  private async leadGlobal(term: LeaderTerm): Promise<void> {
    const { store, index, process, link, cp, around } = this;
    const { registry } = around;
    around.leads(term);
    const shared = { store, index, clock: process.clock, logger: silentLogger, term };
    const options = { ...shared, meshes: rowsOnly(index), registry, sessions: simSessions(link), lost: around.lost };
    const keeper = createZoneLifecycleLoop(around.keeperFault(options));
    const runner = new LoopRunner([createConditionsReconciler({ cp, registry, meshes: rowsOnly(index) })], {
      ...shared,
      random: this.jitter,
    });
    await Promise.all([runner.run(), keeper.run(), around.chores?.(process, store, term)]);
  }

  private async leadZone(term: LeaderTerm, cp: ZonePlane): Promise<void> {
    const { store, index, process, around } = this;
    const { rest, grace, hold } = around.times;
    const meshes = rowsOnly(index);
    const conditions = createConditionsReconciler({ cp, registry: around.registry, meshes });
    const zoneConfig = { cp, ranges: around.ranges, meshes, cooldown: rest, grace };
    const loops = [...createZoneReconcilers(zoneConfig), conditions];
    const shared = { store, index, clock: process.clock, logger: silentLogger, term };
    const runner = new LoopRunner(loops, { ...shared, random: this.jitter });
    this.runner = runner;
    const sync = createZoneSync({
      ...shared,
      zone: cp.zone,
      storeId: `store-of-${cp.zone}`,
      registry: around.registry,
      addresses: [''],
      credentials: ChannelCredentials.createInsecure(),
      dial: () => around.network.dial(cp.zone, process),
      version: '0.0.0',
      token: shownToken(() => tokenOf(cp.zone)),
      maintenance: store,
      writeCopies: (request) => runner.write(request),
      hold,
      backoff: { base: 200, cap: 2_000, random: this.jitter },
    });
    await Promise.all([runner.run(), sync.run(), around.chores?.(process, store, term)]);
    if (this.runner === runner) this.runner = undefined;
  }

  private readonly jitter = (): number => this.random.next();
}

/** The token that a zone shows in its handshake. */
function tokenOf(zone: string): string {
  return `token-of-${zone}`;
}

function admit(zone: string, token: string | undefined): Promise<object> {
  return token === tokenOf(zone) ? Promise.resolve({}) : Promise.reject(new Forbidden(`not the token of ${zone}`));
}

/** No schedule uses the expected Mesh: its meshes come and go with their rows. */
function rowsOnly(index: IndexReader): Meshes {
  return meshesOf(index, { ...DEFAULT_MESH_OWNER, expectedName: 'expected' });
}
