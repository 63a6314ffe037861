import type { Verdict } from './verdict';

/** Result of a run. A run that was aborted has no findings. */
export interface ChaosReport extends Partial<Findings> {
  readonly seed: number;
  readonly seconds: number;
  /** Number of each fault. */
  readonly mishaps: Readonly<Record<string, number>>;
  readonly answeredWrites: number;
  readonly unansweredWrites: number;
  /** Mishaps that could not begin or end as they should, with the error: these broke the run off. */
  readonly failed: readonly string[];
  /** Replicas that ended by themselves. */
  readonly fell: readonly string[];
}

/** The findings after all faults have ended. */
export interface Findings extends Verdict {
  /** Versions of copies that were looked at, and how many of these were deletions. */
  readonly copies: number;
  readonly deletions: number;
  /** Time from the end of the last fault until all control planes hold the state of the origins, ms. */
  readonly settledMs: number;
}

/** Everything in a report that must not be. */
export function faults(report: ChaosReport): readonly string[] {
  const { failed, fell, unequal = [], vanished = [], wentBack = [], lost = [] } = report;
  return [...failed, ...fell, ...unequal, ...vanished, ...wentBack, ...lost];
}
