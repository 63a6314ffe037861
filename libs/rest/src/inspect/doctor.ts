import type { Registry, Resource } from '@causeway/resources';
import { nextTurn, SlicedWork } from '@causeway/runtime';
import type { ResourceIndex } from '@causeway/store';
import type { Insights } from '../dependencies';
import { json, type Answer } from '../http/answer';
import { queryOf, type Call } from '../http/call';
import { doctorChecks, type DoctorCheck, type Finding, type ZoneSight } from './doctor-checks';

/** Findings of one check that are told. */
const SHOWN = 100;

/** Zones whose insights are read at the same time. */
const TOGETHER = 10;

/** Resources in a slice: judging a large one takes longer than what slices usually hold. */
const SLICE = 100;

/** What one check found. */
interface Report {
  readonly check: string;
  readonly total: number;
  /** The first hundred. */
  readonly findings: readonly Finding[];
}

/** What the doctor works with. */
export interface DoctorParts {
  readonly registry: Registry;
  readonly index: ResourceIndex;
  readonly insights: Insights;
}

/** Looks for what is not as it should be, for the operator only (the guard sees to it); who asks while it looks gets the same answer. */
export class Doctor {
  private looking: Promise<Answer> | undefined;

  constructor(private readonly parts: DoctorParts) {}

  async answer(call: Call): Promise<Answer> {
    queryOf(call, []).check();
    this.looking ??= this.look().finally(() => (this.looking = undefined));
    return this.looking;
  }

  private async look(): Promise<Answer> {
    const { registry, index } = this.parts;
    const checks: Report[] = [];
    for (const check of doctorChecks({ registry, index, zones: await this.zones() })) checks.push(await run(check));
    return json({ total: checks.reduce((sum, { total }) => sum + total, 0), checks });
  }

  private async zones(): Promise<readonly ZoneSight[]> {
    const zones = [...this.parts.index.ofKind('Zone')];
    const sights: ZoneSight[] = [];
    for (let from = 0; from < zones.length; from += TOGETHER) {
      sights.push(...(await Promise.all(zones.slice(from, from + TOGETHER).map((zone) => this.sight(zone)))));
    }
    return sights;
  }

  private async sight(zone: Resource): Promise<ZoneSight> {
    return { zone, insight: (await this.parts.insights.insightOf?.(zone)) ?? {} };
  }
}

/** Others have their turn between slices: how much there is to look at is not in our hands. */
async function run(check: DoctorCheck): Promise<Report> {
  const shown: Finding[] = [];
  let total = 0;
  const steps = function* (): Iterable<undefined> {
    for (const finding of check.findings()) {
      if (finding) total += 1;
      if (finding && shown.length < SHOWN) shown.push(finding);
      yield undefined;
    }
  };
  const work = new SlicedWork(SLICE);
  work.begin(steps());
  while (!work.advance()) await nextTurn();
  return { check: check.name, total, findings: shown };
}
