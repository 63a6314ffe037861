import type { Violation } from './check/violation';
import type { Schedule, Step } from './mesh/steps';

/** Runs a schedule and returns its violation. */
export type Trial = (schedule: Schedule) => Promise<Violation | undefined>;

/**
 * A smaller schedule that violates the same invariant: as few steps as can be found by leaving some out, and the
 * plainest mesh. `schedule` itself when nothing can be left out. At most `budget` trials.
 */
export async function shrink(schedule: Schedule, trial: Trial, budget = 300): Promise<Schedule> {
  const invariant = (await trial(schedule))?.invariant;
  if (invariant === undefined) return schedule;
  let left = budget;
  const fails = async (candidate: Schedule): Promise<boolean> =>
    left-- > 0 && (await trial(candidate))?.invariant === invariant;
  let best = await withFewerSteps(schedule, fails);
  for (const plainer of plainerShapes(best)) {
    const candidate = plainer(best);
    if (candidate && (await fails(candidate))) best = candidate;
  }
  return withFewerSteps(best, fails);
}

type Fails = (candidate: Schedule) => Promise<boolean>;

/** Leaves out ever smaller pieces. */
async function withFewerSteps(schedule: Schedule, fails: Fails): Promise<Schedule> {
  let { steps } = schedule;
  for (let size = Math.ceil(steps.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let from = 0; from < steps.length;) {
      const fewer = [...steps.slice(0, from), ...steps.slice(from + size)];
      if (await fails({ ...schedule, steps: fewer })) steps = fewer;
      else from += size;
    }
  }
  return { ...schedule, steps };
}

type Plainer = (schedule: Schedule) => Schedule | undefined;

function plainerShapes({ zones }: Schedule): Plainer[] {
  return [
    (schedule) => ({ ...schedule, restartsAtEnd: false }),
    (schedule) => ({ ...schedule, staysAway: undefined }),
    (schedule) => ({ ...schedule, prefix: 24 }),
    (schedule) => ({ ...schedule, globals: 1 }),
    ...zones.map(
      ({ name }): Plainer =>
        (schedule) =>
          withoutReplicas(schedule, name),
    ),
    ...zones.map(
      ({ name }): Plainer =>
        (schedule) =>
          withoutZone(schedule, name),
    ),
  ];
}

function withoutReplicas(schedule: Schedule, name: string): Schedule {
  const zones = schedule.zones.map((zone) => (zone.name === name ? { ...zone, replicas: 1 } : zone));
  return { ...schedule, zones };
}

function withoutZone(schedule: Schedule, name: string): Schedule | undefined {
  if (schedule.zones.length === 1) return undefined;
  const concerns = (step: Step): boolean => Object.values(step).includes(name);
  return {
    ...schedule,
    zones: schedule.zones.filter((zone) => zone.name !== name),
    staysAway: schedule.staysAway === name ? undefined : schedule.staysAway,
    steps: schedule.steps.filter((step) => !concerns(step)),
  };
}
