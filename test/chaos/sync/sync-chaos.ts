import { setTimeout as wait } from 'node:timers/promises';
import { Prng } from '../../simulation/engine/prng';
import { readVersions } from '../../support/row-versions';
import { until } from '../../support/until';
import { ChaosMesh } from './chaos-mesh';
import { drawMishap, type Mishap } from './mishaps';
import { judge, type Histories, type Verdict } from './verdict';
import { ZoneWriter } from './zone-writer';

export interface ChaosOptions {
  readonly seed: number;
  /** How long things go wrong. */
  readonly seconds: number;
}

export interface ChaosReport extends Verdict {
  readonly seed: number;
  readonly seconds: number;
  /** How often each mishap was. */
  readonly mishaps: Readonly<Record<string, number>>;
  readonly answeredWrites: number;
  readonly unansweredWrites: number;
  /** Versions of copies that were looked at, and how many of these were deletions. */
  readonly copies: number;
  readonly deletions: number;
  /** From the end of the last mishap until all held what the origins hold, ms. */
  readonly settledMs: number;
}

/** Runs at least this long also have mishaps that only the product's own watch over its connections ends. */
const PATIENT_FROM = 60;
/** Between two mishaps, ms. */
const PAUSE = [200, 1_200] as const;
const AT_ONCE = 3;
const SETTLES = 120_000;

/** Lets things go wrong while users write in every zone, mends all, and holds what Postgres recorded against the origins. */
export async function runSyncChaos(options: ChaosOptions): Promise<ChaosReport> {
  const mesh = new ChaosMesh();
  const chaos = new SyncChaos(options, mesh);
  try {
    await mesh.start();
    return await chaos.run();
  } finally {
    await chaos.halt();
    await mesh.stop();
  }
}

class SyncChaos {
  private readonly chance: Prng;
  private readonly writers = new Map<string, ZoneWriter>();
  private readonly under = new Map<object, Promise<void>>();
  private readonly mishaps: Record<string, number> = {};

  constructor(
    private readonly options: ChaosOptions,
    private readonly mesh: ChaosMesh,
  ) {
    this.chance = new Prng(options.seed);
  }

  async run(): Promise<ChaosReport> {
    for (const zone of this.mesh.zones) {
      const writer = new ZoneWriter(zone, this.mesh.replicasOf(zone), this.chance.fork(zone));
      this.writers.set(zone, writer);
      writer.start();
    }
    await this.letGoWrong();
    const mended = performance.now();
    await this.halt();
    const told = new Map([...this.writers].map(([zone, writer]) => [zone, writer.told]));
    const histories = await this.settle(
      () => this.histories(),
      (seen) => judge(seen, told).unequal.length === 0,
    );
    const verdict = judge(histories, told);
    if (verdict.unequal.length > 0) this.mesh.tell();
    return this.report(histories, verdict, performance.now() - mended);
  }

  /** Stops the writers, whatever became of the run. */
  async halt(): Promise<void> {
    await Promise.all([...this.writers.values()].map((writer) => writer.stop()));
  }

  private async letGoWrong(): Promise<void> {
    const { seconds } = this.options;
    const chance = this.chance.fork('mishaps');
    const end = performance.now() + seconds * 1_000;
    while (performance.now() < end) {
      await wait(chance.between(...PAUSE));
      const mishap = drawMishap(this.mesh, chance, seconds >= PATIENT_FROM);
      if (this.under.size >= AT_ONCE || this.under.has(mishap.target)) continue;
      this.mishaps[mishap.name] = (this.mishaps[mishap.name] ?? 0) + 1;
      this.under.set(mishap.target, this.befall(mishap));
    }
    await Promise.all(this.under.values());
  }

  private async befall(mishap: Mishap): Promise<void> {
    await mishap.begin();
    await wait(mishap.lasts);
    await mishap.end();
    this.under.delete(mishap.target);
  }

  /** What was seen when it held, or at last. */
  private async settle<T>(look: () => Promise<T>, holds: (seen: T) => boolean): Promise<T> {
    let seen = await look();
    const settled = async (): Promise<boolean> => holds((seen = await look()));
    await until('all zones hold what the origins hold', settled, SETTLES).catch(() => undefined);
    return seen;
  }

  private async histories(): Promise<Histories> {
    const all = [...this.mesh.databases].map(
      async ([name, { url }]) => [name, await readVersions(url, 'MeshService')] as const,
    );
    return new Map(await Promise.all(all));
  }

  private report(histories: Histories, verdict: Verdict, settledMs: number): ChaosReport {
    const writers = [...this.writers.values()];
    const copies = [...histories].flatMap(([holder, versions]) => versions.filter(({ zone }) => zone !== holder));
    return {
      ...this.options,
      mishaps: this.mishaps,
      answeredWrites: writers.reduce((sum, { answered }) => sum + answered, 0),
      unansweredWrites: writers.reduce((sum, { unanswered }) => sum + unanswered, 0),
      copies: copies.length,
      deletions: copies.filter(({ living }) => !living).length,
      settledMs: Math.round(settledMs),
      ...verdict,
    };
  }
}
