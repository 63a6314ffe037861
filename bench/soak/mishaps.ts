import { setTimeout as pause } from 'node:timers/promises';
import type { ReplicaProcess } from '../../test/chaos/sync/replica-process';
import { OWNERS, ZONES, type Owner, type SoakMesh } from './soak-mesh';

/** Time after a mishap for which latencies still count as disturbed, ms: a lease, and the start of processes on a busy machine. */
const AFTER = 20_000;
const DOWN = 3_000;
const STOPPED = 5_000;
const CUT = 8_000;

/** An injected fault. */
export interface Mishap {
  readonly at: number;
  readonly what: string;
}

/**
 * Breaks something every so many ms, in turn: a kill -9 of the second replica of each control plane, a cut of each zone's link, a stop
 * (SIGSTOP) of a replica of the global. Once, after a quarter of the time, the first replicas are killed too; so each of these lives for
 * three quarters of the soak, and leads for most of it.
 */
export class Mishaps {
  readonly done: Mishap[] = [];
  private disturbedUntil = Infinity;
  private readonly stopped = new AbortController();
  private running: Promise<void> = Promise.resolve();
  private turn = 0;

  constructor(
    private readonly mesh: SoakMesh,
    private readonly every: number,
    /** When the first replicas are killed, ms since the start. */
    private readonly firstsAt: number,
  ) {}

  start(): void {
    this.disturbedUntil = 0;
    this.running = this.run(performance.now());
  }

  async stop(): Promise<void> {
    this.stopped.abort();
    await this.running;
  }

  readonly isDisturbed = (): boolean => performance.now() < this.disturbedUntil;

  private async run(start: number): Promise<void> {
    let firsts = [...OWNERS];
    for (let n = 1; !this.stopped.signal.aborted; n++) {
      const wait = start + n * this.every - performance.now();
      await pause(Math.max(0, wait), undefined, { signal: this.stopped.signal }).catch(() => undefined);
      if (this.stopped.signal.aborted) return;
      const [first, ...rest] = performance.now() - start > this.firstsAt ? firsts : [];
      if (first !== undefined) firsts = rest;
      await this.strike(start, first);
    }
  }

  private async strike(start: number, first: Owner | undefined): Promise<void> {
    const [what, work] = first === undefined ? this.next() : this.killing(first, 0);
    this.done.push({ at: Math.round(performance.now() - start), what });
    this.disturbedUntil = Infinity;
    await work();
    this.disturbedUntil = performance.now() + AFTER;
  }

  private next(): readonly [string, () => Promise<void>] {
    const kills = OWNERS.map((owner) => () => this.killing(owner, 1));
    const cuts = ZONES.map((zone) => () => this.cutting(zone));
    const [killGlobal, killEast, killWest, cutEast, cutWest] = [...kills, ...cuts];
    const round = [killGlobal, cutEast, killEast, () => this.stopping(), killWest, cutWest];
    return (round[this.turn++ % round.length] ?? (() => this.stopping()))();
  }

  private killing(owner: Owner, n: number): readonly [string, () => Promise<void>] {
    const replica = this.replica(owner, n);
    return [
      `kill -9 of ${owner}-${n}`,
      async () => {
        await replica.kill();
        if (owner === 'global') this.leadAll();
        await pause(DOWN);
        await replica.start();
        if (owner === 'global') this.leadAll();
      },
    ];
  }

  private stopping(): readonly [string, () => Promise<void>] {
    const replica = this.replica('global', 1);
    return [
      'SIGSTOP of global-1',
      async () => {
        replica.pause();
        await pause(STOPPED);
        replica.resume();
      },
    ];
  }

  private cutting(zone: Owner): readonly [string, () => Promise<void>] {
    return [
      `cut of ${zone}'s link`,
      async () => {
        this.mesh.links.get(zone)?.cut();
        await pause(CUT);
        this.mesh.links.get(zone)?.heal();
      },
    ];
  }

  private leadAll(): void {
    for (const [n, zone] of ZONES.entries()) this.mesh.leadLink(zone, n);
  }

  private replica(owner: Owner, n: number): ReplicaProcess {
    const replica = this.mesh.of(owner)[n];
    if (!replica) throw new Error(`no replica ${n} of ${owner}`);
    return replica;
  }
}
