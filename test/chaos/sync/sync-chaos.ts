import { Prng } from '../../simulation/engine/prng';
import { readVersions, type RowVersion } from '../../support/row-versions';
import { until } from '../../support/until';
import { ChaosMesh } from './chaos-mesh';
import type { ChaosReport, Findings } from './chaos-report';
import { ChaosServer } from './chaos-server';
import { MishapCourse } from './mishap-course';
import { drawMishap } from './mishaps';
import { judge, type Histories } from './verdict';
import { ZoneWriter } from './zone-writer';

export interface ChaosOptions {
  readonly seed: number;
  /** Duration of the faults, s. */
  readonly seconds: number;
}

/** Runs at least this long also have faults that only keepalives of the product detect. */
const PATIENT_FROM = 60;
const SETTLES = 120_000;

/**
 * Lets things go wrong while users write in every zone, mends all, and holds what Postgres recorded against the origins.
 * A fault that cannot begin or end as intended aborts the run. Everything that was started is stopped in any case.
 */
export async function runSyncChaos(options: ChaosOptions): Promise<ChaosReport> {
  const server = await ChaosServer.start();
  const mesh = new ChaosMesh(server);
  const chaos = new SyncChaos(options, mesh);
  try {
    await mesh.start();
    return await chaos.run();
  } finally {
    await chaos.halt();
    await mesh.stop();
    await server.stop();
  }
}

class SyncChaos {
  private readonly chance: Prng;
  private readonly writers = new Map<string, ZoneWriter>();

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
    const course = await this.letGoWrong();
    // On a busy machine nothing that was copied may have been deleted so far: users go on until something was.
    if (course.failed.length === 0)
      await this.settle(
        () => this.histories(),
        (seen) => deletionsOf(seen).length > 0,
      );
    const mended = performance.now();
    await this.halt();
    const findings = course.failed.length === 0 ? await this.findings(mended) : undefined;
    if (findings === undefined || findings.unequal.length > 0) this.mesh.tell();
    return this.report(course, findings);
  }

  /** Stops the writers, whatever became of the run. */
  async halt(): Promise<void> {
    await Promise.all([...this.writers.values()].map((writer) => writer.stop()));
  }

  private async letGoWrong(): Promise<MishapCourse> {
    const { seconds } = this.options;
    const chance = this.chance.fork('mishaps');
    const course = new MishapCourse(() => drawMishap(this.mesh, chance, seconds >= PATIENT_FROM), chance);
    await course.run(seconds);
    return course;
  }

  private async findings(mended: number): Promise<Findings> {
    const told = new Map([...this.writers].map(([zone, writer]) => [zone, writer.told]));
    const histories = await this.settle(
      () => this.histories(),
      (seen) => judge(seen, told).unequal.length === 0,
    );
    return {
      copies: copiesOf(histories).length,
      deletions: deletionsOf(histories).length,
      settledMs: Math.round(performance.now() - mended),
      ...judge(histories, told),
    };
  }

  /** Returns the value seen when `holds` became true, or the last one. */
  private async settle<T>(look: () => Promise<T>, holds: (seen: T) => boolean): Promise<T> {
    let seen = await look();
    const settled = async (): Promise<boolean> => holds((seen = await look()));
    await until('it holds', settled, SETTLES).catch(() => undefined);
    return seen;
  }

  private async histories(): Promise<Histories> {
    const all = [...this.mesh.databases].map(
      async ([name, { url }]) => [name, await readVersions(url, 'MeshService')] as const,
    );
    return new Map(await Promise.all(all));
  }

  private report({ counts, failed }: MishapCourse, findings: Findings | undefined): ChaosReport {
    const writers = [...this.writers.values()];
    return {
      ...this.options,
      mishaps: counts,
      answeredWrites: writers.reduce((sum, { answered }) => sum + answered, 0),
      unansweredWrites: writers.reduce((sum, { unanswered }) => sum + unanswered, 0),
      failed,
      fell: this.mesh.replicas.flatMap(({ falls }) => falls),
      ...findings,
    };
  }
}

/** Returns the versions of resources whose origin is not their holder. */
function copiesOf(histories: Histories): readonly RowVersion[] {
  return [...histories].flatMap(([holder, versions]) => versions.filter(({ zone }) => zone !== holder));
}

function deletionsOf(histories: Histories): readonly RowVersion[] {
  return copiesOf(histories).filter(({ living }) => !living);
}
