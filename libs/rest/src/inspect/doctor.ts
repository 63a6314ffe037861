import type { Registry } from '@causeway/resources';
import { inSlices, SharedWork } from '@causeway/runtime';
import type { ResourceIndex } from '@causeway/store';
import type { Insights } from '../dependencies';
import { json, type Answer } from '../http/answer';
import { queryOf, type Call } from '../http/call';
import type { RequestLives } from '../http/request-life';
import { doctorChecks, type DoctorCheck, type Finding, type ZoneSight } from './doctor-checks';
import { insightsOf } from './insights-of';

/** Findings of one check that are told. */
const SHOWN = 100;

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
  readonly lives: RequestLives;
  readonly insights: Insights;
}

/** Looks for what is not as it should be, for the operator only (the guard sees to it); who asks while it looks gets the same answer. */
export class Doctor {
  private readonly looking = new SharedWork((signal) => this.look(signal));

  constructor(private readonly parts: DoctorParts) {}

  async answer(call: Call): Promise<Answer> {
    queryOf(call, []).check();
    return this.looking.result(this.parts.lives.signalOf(call));
  }

  private async look(signal: AbortSignal): Promise<Answer> {
    const { registry, index } = this.parts;
    const checks: Report[] = [];
    const zones = await this.zones(signal);
    for (const check of doctorChecks({ registry, index, zones })) checks.push(await run(check, signal));
    return json({ total: checks.reduce((sum, { total }) => sum + total, 0), checks });
  }

  private async zones(signal: AbortSignal): Promise<readonly ZoneSight[]> {
    const zones = [...this.parts.index.ofKind('Zone')];
    const insights = await insightsOf(this.parts.insights, zones, signal);
    return zones.map((zone, i) => ({ zone, insight: insights[i] ?? {} }));
  }
}

/** Others have their turn between slices: how much there is to look at is not in our hands. */
async function run(check: DoctorCheck, signal: AbortSignal): Promise<Report> {
  const shown: Finding[] = [];
  let total = 0;
  const steps = function* (): Iterable<undefined> {
    for (const finding of check.findings()) {
      if (finding) total += 1;
      if (finding && shown.length < SHOWN) shown.push(finding);
      yield undefined;
    }
  };
  await inSlices(steps(), signal, SLICE);
  return { check: check.name, total, findings: shown };
}
