import { availableParallelism } from 'node:os';
import { fuzzSeed } from '../support/fuzz-seed';
import { drawSchedule } from './mesh/draw-schedule';
import { World } from './mesh/world';
import { explain } from './explore';
import { runParts } from './run-parts';

/**
 * SIM_SCHEDULES and SIM_SECONDS ask for more and for longer; SIM_SEED says where to begin, else the seed of the run does.
 */
const range = {
  first: Number(process.env['SIM_SEED'] ?? fuzzSeed('simulation')),
  step: 1,
  count: Number(process.env['SIM_SCHEDULES'] ?? 600),
  seconds: Number(process.env['SIM_SECONDS'] ?? 0),
};
const processes = Math.min(2, availableParallelism());
const MINUTE = 60_000;

/** Schedules that found bugs, which are fixed: they run each time. */
const FOUND = [93, 718, 90_100, 880_852_071, 1_305_126_788, 1_445_463_412, 2_068_946_346, 2_106_724_726];

describe('a simulated mesh', () => {
  it.each(FOUND)('keeps its invariants in the schedule of seed %i', async (seed) => {
    expect((await new World(drawSchedule(seed)).run()).violation).toBeUndefined();
  });

  it('keeps its invariants in the schedule of seed 718, where every watch is 1.5 s behind', async () => {
    const { violation } = await new World(drawSchedule(718), { store: { lag: 1_500 } }).run();
    expect(violation).toBeUndefined();
  });

  it(
    'keeps its invariants in every schedule',
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
});
