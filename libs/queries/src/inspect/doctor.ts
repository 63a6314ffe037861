import type { Diagnosis, Finding } from '@causeway/api';
import { leaseHold } from '@causeway/controllers';
import type { Meshes } from '@causeway/meshes';
import { ownZone, type ControlPlane, type Registry } from '@causeway/resources';
import type { ListedToken } from '@causeway/access';
import { inSlices, SingleFlight, type Clock } from '@causeway/runtime';
import type { IndexReader, ResourceStore } from '@causeway/store';
import { doctorChecks, type DoctorCheck, type ZoneWithInsight } from './doctor-checks';
import { readInsights, type Insights } from './insights';
import { leaderChecks } from './leader-checks';
import { planeChecks, readOr } from './plane-checks';
import { tokenChecks } from './token-checks';

/** Maximum number of findings of one check in a report. */
const MAX_LISTED = 100;

/** Resources per slice, fewer than usual: checking a large resource takes longer than the usual step. */
const SLICE = 100;

type CheckReport = Diagnosis['checks'][number];

/** Sources of the doctor. */
export interface DoctorSources {
  readonly registry: Registry;
  readonly cp: ControlPlane;
  readonly index: IndexReader;
  readonly meshes: Meshes;
  readonly store: Pick<ResourceStore, 'readMetadata'>;
  readonly insights: Insights;
  readonly clock: Pick<Clock, 'now'>;
  /** Lists the recorded tokens, if this control plane issues them. */
  readonly userTokens?: TokenList | undefined;
  readonly zoneTokens?: TokenList | undefined;
}

interface TokenList {
  list(): Promise<readonly ListedToken[]>;
}

/** Checks the control plane and all stored resources for problems. A caller during a run gets the report of that run. */
export class Doctor {
  private readonly flight = new SingleFlight((signal) => this.run(signal));

  constructor(private readonly sources: DoctorSources) {}

  /** Runs all checks. Rejects with the signal's reason when the signal aborts before. */
  report(signal: AbortSignal): Promise<Diagnosis> {
    return this.flight.result(signal);
  }

  private async run(signal: AbortSignal): Promise<Diagnosis> {
    const { registry, cp, index, meshes, store, insights, clock, userTokens, zoneTokens } = this.sources;
    const checks: CheckReport[] = [];
    // Without its store a control plane can still report problems of the rest.
    const unread: string[] = [];
    const zones = await readOr('sessions of zones', [], unread, () => this.zones(signal));
    const tokens = await readOr('tokens', { user: [], zone: [] }, unread, async () => ({
      user: (await userTokens?.list()) ?? [],
      zone: (await zoneTokens?.list()) ?? [],
    }));
    const hold = await readOr('leases', undefined, unread, () => leaseHold(store));
    const rivals = await readOr('copies of machines', [], unread, async () => (await insights.rivals?.()) ?? []);
    const impediments = (await insights.impediments?.()) ?? [];
    const input = { registry, cp, index, meshes, zones, leaseHold: hold };
    const secrets = { tokens, zones, keyFaults: insights.keyFaults?.() ?? [], now: clock.now() };
    const all = [
      ...doctorChecks(input),
      ...leaderChecks(insights.leadership?.()),
      ...tokenChecks(secrets),
      ...planeChecks({ zone: ownZone(cp), impediments, unread, rivals }),
    ];
    for (const check of all) checks.push(await runCheck(check, signal));
    return { total: checks.reduce((sum, { total }) => sum + total, 0), checks };
  }

  private async zones(signal: AbortSignal): Promise<readonly ZoneWithInsight[]> {
    const zones = [...this.sources.index.ofKind('Zone')];
    const insights = await readInsights(this.sources.insights, zones, signal);
    return zones.map((zone, i) => ({ zone, insight: insights[i] ?? {} }));
  }
}

/** Runs a check in slices: the number of items depends on users. */
async function runCheck(check: DoctorCheck, signal: AbortSignal): Promise<CheckReport> {
  const findings: Finding[] = [];
  let total = 0;
  const steps = function* (): Iterable<undefined> {
    for (const finding of check.findings()) {
      if (finding) total += 1;
      if (finding && findings.length < MAX_LISTED) findings.push(finding);
      yield undefined;
    }
  };
  await inSlices(steps(), signal, SLICE);
  return { check: check.name, total, findings };
}
