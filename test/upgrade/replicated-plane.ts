import { ProcessPlane, type PlaneEnvironment } from '../support/process-plane';
import { until } from '../support/until';
import type { Findings } from './findings';
import type { Version } from './version-tree';

/** A replica that serves. */
export interface Replica {
  readonly plane: ProcessPlane;
  readonly version: Version;
  /** Before its process was started, by performance.now(). */
  readonly since: number;
}

/** Parts of a `ReplicatedPlane`. */
export interface ReplicatedPlaneParts {
  readonly app: 'global' | 'zone';
  readonly name: string;
  readonly replicas: number;
  readonly findings: Findings;
  /** Settings of the n-th replica. */
  readonly env: (n: number) => PlaneEnvironment;
}

/** A control plane of several replicas on one database, each of its own version. */
export class ReplicatedPlane {
  private readonly slots = new Map<number, Replica>();

  constructor(private readonly parts: ReplicatedPlaneParts) {}

  get name(): string {
    return this.parts.name;
  }

  /** Number of replicas when all run. */
  get size(): number {
    return this.parts.replicas;
  }

  /** The replicas that users reach: ready, and not being ended. */
  get ready(): readonly Replica[] {
    return [...this.slots.values()];
  }

  /** Any replica that is ready, in turn. */
  any(turn: number): ProcessPlane {
    const { ready } = this;
    const found = ready[turn % ready.length];
    if (!found) throw new Error(`no replica of ${this.name} is ready`);
    return found.plane;
  }

  serves(replica: Replica): boolean {
    return this.ready.includes(replica);
  }

  async startAll(version: Version): Promise<void> {
    for (let n = 0; n < this.parts.replicas; n++) await this.start(n, version);
  }

  /** Ends the n-th replica as an operator does, and starts one of this version in its place. */
  async replace(n: number, version: Version): Promise<void> {
    const began = performance.now();
    await this.leave(n)?.plane.stop();
    await this.start(n, version);
    this.parts.findings.took('replacement_ms', performance.now() - began);
    this.parts.findings.count('replacements');
  }

  /** Kills the replica that leads and starts it again, of the same version. */
  async crashLeader(): Promise<void> {
    const n = await until(`a replica of ${this.name} leads`, () => this.leader());
    const replica = this.leave(n);
    if (!replica) return;
    await replica.plane.kill();
    await this.start(n, replica.version);
    this.parts.findings.count('crashes');
  }

  async stop(): Promise<void> {
    await Promise.all([...this.slots.keys()].map(async (n) => this.leave(n)?.plane.stop()));
  }

  private async leader(): Promise<number | undefined> {
    for (const [n, { plane }] of this.slots) if ((await plane.metric('causeway_leader').catch(() => 0)) === 1) return n;
    return undefined;
  }

  private leave(n: number): Replica | undefined {
    const replica = this.slots.get(n);
    this.slots.delete(n);
    return replica;
  }

  private async start(n: number, version: Version): Promise<void> {
    const { app, name, env } = this.parts;
    const since = performance.now();
    const plane = await ProcessPlane.start(app, name, env(n), version.root);
    this.slots.set(n, { plane, version, since });
  }
}
