import { availableParallelism } from 'node:os';
import { fuzzSeed } from '../support/fuzz-seed';
import { drawSchedule } from './mesh/draw-schedule';
import { explain } from './explore';
import { runParts } from './run-parts';

/** SIM_SCHEDULES and SIM_SECONDS set the number of schedules and the time; SIM_SEED sets the first seed, else the seed of the run does. */
const range = {
  first: Number(process.env['SIM_SEED'] ?? fuzzSeed('simulation')),
  step: 1,
  count: Number(process.env['SIM_SCHEDULES'] ?? 600),
  seconds: Number(process.env['SIM_SECONDS'] ?? 0),
};
const processes = Math.min(2, availableParallelism());
const MINUTE = 60_000;

it(
  'a simulated mesh keeps its invariants in every schedule',
  async () => {
    const started = Date.now();
    const { seeds, schedules, commits, messages, hours } = await runParts(range, processes);
    const seconds = Math.round((Date.now() - started) / 1_000);
    console.log(
      `simulation: ${schedules} schedules from seed ${range.first} in ${seconds} s: ${commits} commits, ${messages} messages, ${hours.toFixed(0)} h of the mesh`,
    );
    for (const seed of seeds) throw new Error(await explain(drawSchedule(seed)));
    expect(schedules).toBeGreaterThanOrEqual(range.count);
  },
  60 * MINUTE + range.seconds * 1_000,
);
