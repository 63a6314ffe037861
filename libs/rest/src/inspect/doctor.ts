import type { Registry } from '@causeway/resources';
import { inSlices, SingleFlight } from '@causeway/runtime';
import type { IndexReader } from '@causeway/store';
import type { Insights } from '../rest-dependencies';
import { jsonResponse, type RestResponse } from '../http/rest-response';
import { queryOf, type RestRequest } from '../http/rest-request';
import type { RequestSignals } from '../http/request-signals';
import { doctorChecks, type DoctorCheck, type DoctorFinding, type ZoneWithInsight } from './doctor-checks';
import { readInsights } from './insights-of';

/** Findings of one check that are told. */
const SHOWN = 100;

/** Resources in a slice: judging a large one takes longer than what slices usually hold. */
const SLICE = 100;

/** What one check found. */
interface CheckReport {
  readonly check: string;
  readonly total: number;
  /** The first hundred. */
  readonly findings: readonly DoctorFinding[];
}

/** What the doctor works with. */
export interface DoctorParts {
  readonly registry: Registry;
  readonly index: IndexReader;
  readonly requestSignals: RequestSignals;
  readonly insights: Insights;
}

/** Looks for what is not as it should be, for the operator only (the guard sees to it); who asks while it looks gets the same answer. */
export class Doctor {
  private readonly looking = new SingleFlight((signal) => this.look(signal));

  constructor(private readonly parts: DoctorParts) {}

  async answer(call: RestRequest): Promise<RestResponse> {
    queryOf(call, []).check();
    return this.looking.result(this.parts.requestSignals.signalOf(call));
  }

  private async look(signal: AbortSignal): Promise<RestResponse> {
    const { registry, index } = this.parts;
    const checks: CheckReport[] = [];
    const zones = await this.zones(signal);
    for (const check of doctorChecks({ registry, index, zones })) checks.push(await runCheck(check, signal));
    return jsonResponse({ total: checks.reduce((sum, { total }) => sum + total, 0), checks });
  }

  private async zones(signal: AbortSignal): Promise<readonly ZoneWithInsight[]> {
    const zones = [...this.parts.index.ofKind('Zone')];
    const insights = await readInsights(this.parts.insights, zones, signal);
    return zones.map((zone, i) => ({ zone, insight: insights[i] ?? {} }));
  }
}

/** Others have their turn between slices: how much there is to look at is not in our hands. */
async function runCheck(check: DoctorCheck, signal: AbortSignal): Promise<CheckReport> {
  const shown: DoctorFinding[] = [];
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
