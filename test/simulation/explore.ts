import { drawSchedule } from './mesh/draw-schedule';
import { describeSchedule, type Schedule } from './mesh/steps';
import { World, type Faults } from './mesh/world';
import type { Violation } from './check/violation';
import { shrink } from './shrink';

/** The schedules to run. */
export interface Range {
  /** The seed of the first, and how far the next is from it. */
  readonly first: number;
  readonly step: number;
  readonly count: number;
  /** Goes on beyond `count` for so many s; 0 = does not. */
  readonly seconds: number;
}

/** A schedule that violates an invariant. */
interface Finding {
  readonly schedule: Schedule;
  readonly violation: Violation;
}

/** Result of many runs. */
export interface Exploration {
  readonly schedules: number;
  readonly commits: number;
  readonly messages: number;
  /** Simulated hours. */
  readonly hours: number;
  readonly findings: readonly Finding[];
}

/** Runs schedules; ends early at the `most`-th finding. */
export async function explore(range: Range, faults: Faults = {}, most = 1): Promise<Exploration> {
  const end = Date.now() + range.seconds * 1_000;
  const sum = { schedules: 0, commits: 0, messages: 0, time: 0 };
  const findings: Finding[] = [];
  while ((sum.schedules < range.count || Date.now() < end) && findings.length < most) {
    const schedule = drawSchedule(range.first + sum.schedules * range.step);
    const outcome = await new World(schedule, faults).run();
    await new Promise((resolve) => setImmediate(resolve)); // a run leaves the event loop no turn
    sum.schedules++;
    sum.commits += outcome.commits;
    sum.messages += outcome.messages;
    sum.time += outcome.time;
    if (outcome.violation) findings.push({ schedule, violation: outcome.violation });
  }
  const { time, ...counts } = sum;
  return { ...counts, hours: time / 3_600_000, findings };
}

/** Explains a schedule with a violation for people: the smallest schedule that still violates, and its trace. */
export async function explain(schedule: Schedule, faults: Faults = {}): Promise<string> {
  const trial = async (candidate: Schedule): Promise<Violation | undefined> =>
    (await new World(candidate, faults).run()).violation;
  const smallest = await shrink(schedule, trial);
  const violation = await trial(smallest);
  return `${violation?.invariant}: ${violation?.detail}\n${describeSchedule(smallest)}`;
}
