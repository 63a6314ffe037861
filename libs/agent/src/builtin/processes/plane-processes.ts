import cluster, { type Worker } from 'node:cluster';
import { extname, join } from 'node:path';
import { Backoff, type Clock, type Logger } from '@causeway/runtime';
import { RESOURCE_TYPES, type EncodedResource } from '@causeway/xds-server';
import type { PlaneProcessesState, UnsupportedFeature } from '../../plane';
import type { CacheChange } from '../../resources/resource-reader';
import type { PlaneResources } from '../decoded-resources';
import type { PlaneEngine, PlaneLimits } from '../plane-engine';
import { sumSnapshots, type StatSnapshot } from '../stats';
import { isPlaneReport, type PlaneResponse, type PlaneCommand, type PlaneReport } from './plane-messages';

/** Maximum number of resources in one message. */
const BATCH = 500;
const RESTART = { base: 100, cap: 10_000 };
const ENTRY = join(__dirname, 'plane-worker');

type CommandWithoutId = PlaneCommand extends infer O ? (O extends unknown ? Omit<O, 'id'> : never) : never;

export interface PlaneProcessesOptions {
  /** Number of processes; at most one for each core of the machine. */
  readonly processes: number;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Processes that carry the connections of all builtin dataplanes of a machine (docs/reference/builtin-plane.md,
 * Processes). They share the listening sockets by `node:cluster`, which distributes connections in turn. A process that
 * ends is restarted with the current resources; its connections are lost, those of the others are not.
 */
export class PlaneProcesses {
  private readonly running = new Set<PlaneProcess>();
  private readonly engines = new Map<number, RemoteEngine>();
  private readonly backoff = new Backoff(RESTART);
  private planes = 0;
  private count = 0;
  private restarts = 0;

  private constructor(private readonly options: PlaneProcessesOptions) {
    cluster.setupPrimary({
      exec: ENTRY + extname(__filename),
      serialization: 'advanced',
    });
    void this.resize(options.processes);
  }

  static start(options: PlaneProcessesOptions): PlaneProcesses {
    return new PlaneProcesses(options);
  }

  get state(): PlaneProcessesState {
    return { pids: [...this.running].map(({ pid }) => pid), restarts: this.restarts };
  }

  /**
   * Sets the number of processes; resolves when surplus ones have ended. Open dataplanes keep the share of limits that
   * they were created with.
   */
  async resize(count: number): Promise<void> {
    this.count = count;
    for (let n = this.running.size; n < count; n++) this.fork();
    await Promise.all([...this.running].slice(count).map((process) => process.end()));
  }

  /** Creates the engine of one dataplane; each process gets its share of the limits. */
  engine(resources: PlaneResources, limits: PlaneLimits): PlaneEngine {
    const plane = ++this.planes;
    const share = limits.share / this.count;
    const maxConnections = Math.ceil(limits.maxConnections / this.count);
    const engine = new RemoteEngine(
      plane,
      resources,
      { ...limits, share, maxConnections },
      {
        processes: () => [...this.running],
        ended: () => this.engines.delete(plane),
      },
    );
    this.engines.set(plane, engine);
    for (const process of this.running) engine.open(process);
    return engine;
  }

  /** Ends the processes and their connections. */
  async close(): Promise<void> {
    await this.resize(0);
  }

  private restart(): void {
    if (this.running.size >= this.count) return;
    this.restarts += 1;
    this.fork();
  }

  private fork(): void {
    const process = new PlaneProcess(cluster.fork(), {
      needs: (report) => this.engines.get(report.plane)?.needs(process, report),
      ended: (reason) => this.ended(process, reason),
    });
    this.running.add(process);
    for (const engine of this.engines.values()) engine.open(process);
  }

  private ended(process: PlaneProcess, reason: string): void {
    this.running.delete(process);
    for (const engine of this.engines.values()) engine.lost(process);
    if (this.running.size >= this.count) return;
    this.options.logger.warn('a process of the builtin plane has ended', { pid: process.pid, reason });
    this.options.clock.after(this.backoff.next(), () => this.restart());
  }
}

interface ProcessEvents {
  readonly needs: (report: Extract<PlaneReport, { readonly report: 'needs' }>) => void;
  readonly ended: (reason: string) => void;
}

/** One process: sends commands and matches responses. */
class PlaneProcess {
  private readonly waiting = new Map<number, (answer: PlaneResponse) => void>();
  private commands = 0;

  constructor(
    private readonly worker: Worker,
    events: ProcessEvents,
  ) {
    worker.on('message', (message: unknown) => {
      if (!isPlaneReport(message)) return;
      if (message.report === 'needs') return events.needs(message);
      this.waiting.get(message.id)?.(message.response);
      this.waiting.delete(message.id);
    });
    worker.on('error', () => undefined);
    worker.on('exit', (code, signal) => {
      for (const answer of this.waiting.values()) answer({});
      this.waiting.clear();
      events.ended(signal || `status ${code}`);
    });
  }

  get pid(): number {
    return this.worker.process.pid ?? 0;
  }

  /** Resolves with the response; with an empty one if the process ends first. */
  send(order: CommandWithoutId): Promise<PlaneResponse> {
    const id = ++this.commands;
    return new Promise((resolve) => {
      if (!this.worker.isConnected()) return resolve({});
      this.waiting.set(id, resolve);
      this.worker.send({ ...order, id });
    });
  }

  async end(): Promise<void> {
    if (this.worker.isDead()) return;
    const ended = new Promise((resolve) => this.worker.once('exit', resolve));
    this.worker.process.kill('SIGKILL');
    await ended;
  }
}

interface EngineEvents {
  readonly processes: () => readonly PlaneProcess[];
  readonly ended: () => void;
}

/** Dataplane carried by several processes: each receives the same commands. */
class RemoteEngine implements PlaneEngine {
  /** Processes that need a resource, by `type name`. */
  private readonly users = new Map<string, Set<PlaneProcess>>();
  private hasStarted = false;

  constructor(
    private readonly plane: number,
    private readonly resources: PlaneResources,
    private readonly limits: PlaneLimits,
    private readonly events: EngineEvents,
  ) {}

  /** Sends a process all current resources. */
  open(process: PlaneProcess): void {
    const { plane, limits } = this;
    void process.send({ order: 'open', plane, limits });
    for (const type of Object.values(RESOURCE_TYPES)) this.put(process, type, [...this.resources.names(type)]);
    if (this.hasStarted) void process.send({ order: 'start', plane });
  }

  lost(process: PlaneProcess): void {
    for (const [key, users] of this.users) if (users.delete(process) && users.size === 0) this.release(key);
  }

  needs(process: PlaneProcess, { type, name, isNeeded }: Extract<PlaneReport, { readonly report: 'needs' }>): void {
    const key = `${type} ${name}`;
    const users = this.users.get(key) ?? new Set();
    if (isNeeded) {
      if (users.size === 0) this.resources.want(type, [name]);
      this.users.set(key, users.add(process));
    } else if (users.delete(process) && users.size === 0) this.release(key);
  }

  private release(key: string): void {
    this.users.delete(key);
    const end = key.indexOf(' ');
    this.resources.release(key.slice(0, end), [key.slice(end + 1)]);
  }

  start(): Promise<string | undefined> {
    this.hasStarted = true;
    return this.sendToAll({ order: 'start', plane: this.plane });
  }

  take({ type, names }: CacheChange): Promise<string | undefined> {
    for (const process of this.events.processes()) this.put(process, type, names);
    return this.sendToAll({ order: 'take', plane: this.plane, type, names });
  }

  async stop(drainMs: number): Promise<void> {
    await this.sendToAll({ order: 'stop', plane: this.plane, drainMs });
    this.events.ended();
  }

  async unsupported(): Promise<readonly UnsupportedFeature[]> {
    const [first] = await this.ask();
    return first?.unsupported ?? [];
  }

  async stats(): Promise<StatSnapshot> {
    return sumSnapshots((await this.ask()).map(({ stats = [] }) => stats));
  }

  private ask(): Promise<readonly PlaneResponse[]> {
    const { plane } = this;
    return Promise.all(this.events.processes().map((process) => process.send({ order: 'describe', plane })));
  }

  /** Sends a command to all processes; returns the refusal of the first that refuses. */
  private async sendToAll(order: CommandWithoutId): Promise<string | undefined> {
    const answers = await Promise.all(this.events.processes().map((process) => process.send(order)));
    return answers.find(({ refusal }) => refusal !== undefined)?.refusal;
  }

  private put(process: PlaneProcess, type: string, names: readonly string[]): void {
    const { plane } = this;
    const there: EncodedResource[] = [];
    const gone: string[] = [];
    for (const name of names) {
      const found = this.resources.get(type, name);
      if (found === undefined || found === 'pending') gone.push(name);
      else there.push(found);
    }
    for (let at = 0; at < there.length; at += BATCH)
      void process.send({ order: 'put', plane, resources: there.slice(at, at + BATCH) });
    if (gone.length > 0) void process.send({ order: 'remove', plane, type, names: gone });
  }
}
